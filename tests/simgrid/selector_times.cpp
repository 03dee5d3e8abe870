// SPDX-License-Identifier: Apache-2.0
//
// Simulates the collectives of other MPIs. SMPI, the MPI of SimGrid 3.32, implements how Open MPI,
// MPICH, MVAPICH2 and Intel MPI select algorithms, and these algorithms.
//
//   selector_times MACHINE RANKS FILE [--verify]
//
// The program adds the times of a machine and a number of ranks to a JSON file, and omits those
// that the file has. SimGrid is deterministic, so a call is simulated once.
// bench/selectors/smpi.json keeps the times for the program bench/selectors. With --verify the
// program simulates the shortest calls of the file again, and fails if a time differs.
//
// Each call runs in a process of its own, because SMPI crashes in some of them, and because a call
// may need too much time or memory. The file then has the reason in place of the time. With 1024
// ranks the first calls of a selection take minutes. So one process makes them, and each call runs
// in a copy of it (SimGrid has one thread).
#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platforms.hpp"

namespace {

namespace s4u = simgrid::s4u;
using json = nlohmann::ordered_json;

constexpr const char* selectors[] = {"ompi", "mpich", "mvapich2", "impi"};
// The collectives with the fewest messages are the first.
constexpr const char* collectives[] = {
    "barrier",   "bcast",   "reduce", "allreduce", "scatter", "gather", "reduce_scatter_block",
    "allgather", "alltoall"};
constexpr std::size_t sizes[] = {8, 1024, 32768, 1048576, 16777216};

struct options {
  std::string machine, file;
  int ranks = 0;
  rlim_t seconds = 300, gigabytes = 12;
  bool verify = false;
};
struct simulated_call {
  std::string what;
  std::size_t bytes;  // of a block, or of the vector if there are no blocks
};

void run_collective(std::string_view what, std::size_t bytes, char* in, char* out) {
  const int n = static_cast<int>(bytes / sizeof(double));
  const MPI_Comm world = MPI_COMM_WORLD;
  const MPI_Datatype type = MPI_DOUBLE;
  if (what == "barrier") MPI_Barrier(world);
  if (what == "bcast") MPI_Bcast(in, n, type, 0, world);
  if (what == "reduce") MPI_Reduce(in, out, n, type, MPI_SUM, 0, world);
  if (what == "allreduce") MPI_Allreduce(in, out, n, type, MPI_SUM, world);
  if (what == "gather") MPI_Gather(in, n, type, out, n, type, 0, world);
  if (what == "scatter") MPI_Scatter(in, n, type, out, n, type, 0, world);
  if (what == "allgather") MPI_Allgather(in, n, type, out, n, type, world);
  if (what == "alltoall") MPI_Alltoall(in, n, type, out, n, type, world);
  if (what == "reduce_scatter_block") MPI_Reduce_scatter_block(in, out, n, type, MPI_SUM, world);
}

// Two buffers of all ranks, for blocks of 16 MiB from 1024 ranks. SMPI moves no data in its replay
// mode, so they take hardly any memory.
constexpr std::size_t buffer_bytes = std::size_t{1} << 35;
char* reserve_buffers() {
  void* p = mmap(nullptr, 2 * buffer_bytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) throw std::runtime_error("there is no address space for the buffers");
  return static_cast<char*>(p);
}

struct outcome {
  double seconds = 0;  // of the slowest rank
  int complete = 0;    // ranks; SimGrid ends a rank that throws, and continues
};

// The calls of one selection. A copy of the process has one of them as `now`.
struct calls_to_time {
  std::string selector;
  std::vector<simulated_call> all;
  int results = -1;  // where each outcome is written
  const simulated_call* now = nullptr;
  int result = -1;  // of a copy: where its seconds are written
};

void write_all(int to, const std::string& text) {
  if (write(to, text.data(), text.size()) != static_cast<ssize_t>(text.size())) _exit(1);
}

void limit(__rlimit_resource which, rlim_t value) {
  const rlimit both{value, value};
  if (setrlimit(which, &both) != 0)
    throw std::runtime_error(std::string("setrlimit: ") + std::strerror(errno));
}

// A limit of the kernel would count memory that SMPI allocates and never touches.
double resident_bytes(pid_t process) {
  std::ifstream in("/proc/" + std::to_string(process) + "/statm");
  double size = 0, resident = 0;
  in >> size >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE));
}

// Waits for a process, and ends it if it takes too much memory. Returns why it has no result.
std::string wait_for(const options& o, pid_t child) {
  int status = 0;
  bool too_large = false;
  while (true) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) break;
    if (ended != 0) throw std::runtime_error(std::string("waitpid: ") + std::strerror(errno));
    if (resident_bytes(child) > static_cast<double>(o.gigabytes << 30)) {
      too_large = true;
      kill(child, SIGKILL);
    }
    usleep(10000);
  }
  if (too_large) return "not run: more than " + std::to_string(o.gigabytes) + " GiB";
  if (WIFSIGNALED(status) && (WTERMSIG(status) == SIGXCPU || WTERMSIG(status) == SIGKILL))
    return "not run: more than " + std::to_string(o.seconds) + " s";
  if (WIFSIGNALED(status)) return std::string("not run: SMPI crashes, ") + strsignal(WTERMSIG(status));
  return "not run: SMPI ends with status " + std::to_string(WEXITSTATUS(status));
}

// Makes a copy of this process for each call. Returns in the copies only.
void branch(const options& o, calls_to_time& calls) {
  for (const simulated_call& c : calls.all) {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) _exit(1);
    const pid_t child = fork();
    if (child < 0) _exit(1);
    if (child == 0) {
      limit(RLIMIT_CPU, o.seconds);
      calls.now = &c;
      calls.result = ends[1];
      return;
    }
    close(ends[1]);
    const std::string reason = wait_for(o, child);
    double seconds = 0;
    const bool has_result = read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
    close(ends[0]);
    // From 2^31 elements on, counts of SMPI overflow.
    const json result = !has_result   ? json(reason)
                        : seconds > 0 ? json(seconds)
                                      : json("not run: SMPI sends nothing");
    write_all(calls.results, result.dump() + "\n");
  }
  _exit(0);
}

// What each rank does. The first call of a selection makes the communicators of the nodes, with
// messages that take time and need their data. So two short calls precede the replay mode. Further
// ones do not change the times.
void rank_program(const options& o, calls_to_time& calls, int rank, char* buffers, outcome& out) {
  constexpr double replay_begin = 1, copies = 1.5, begin = 2;  // seconds
  MPI_Init(nullptr, nullptr);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  std::vector<char> in(8), all(8 * static_cast<std::size_t>(ranks));
  run_collective("bcast", 8, in.data(), all.data());
  run_collective("gather", 8, in.data(), all.data());
  s4u::this_actor::sleep_until(replay_begin);
  smpi_replay_init("peer", rank, 0);
  if (rank == 0) {
    s4u::this_actor::sleep_until(copies);
    branch(o, calls);
  }
  s4u::this_actor::sleep_until(begin);
  run_collective(calls.now->what, calls.now->bytes, buffers, buffers + buffer_bytes);
  out.seconds = std::max(out.seconds, s4u::Engine::get_clock() - begin);
  ++out.complete;
  MPI_Finalize();
}

double simulate(const options& o, calls_to_time& calls) {
  std::string name = "selector_times", quiet = "--log=root.thresh:critical";
  std::string selector = "--cfg=smpi/coll-selector:" + calls.selector;
  int count = 3;
  char* arguments[] = {name.data(), quiet.data(), selector.data(), nullptr};
  smpi_init_options();  // the engine reads the selector, and SMPI_init() applies it
  s4u::Engine engine(&count, arguments);
  SMPI_init();
  simgrid_platforms::configure(engine);
  const std::vector<s4u::Host*> hosts = simgrid_platforms::hosts_of(o.machine, o.ranks);
  SMPI_app_instance_register("peer", nullptr, o.ranks);
  char* const buffers = reserve_buffers();
  outcome result;
  for (int r = 0; r < o.ranks; ++r) {
    const s4u::ActorPtr actor =
        s4u::Actor::init("rank" + std::to_string(r), simgrid_platforms::host_of(hosts, r, o.ranks));
    actor->set_property("instance_id", "peer");
    actor->set_property("rank", std::to_string(r));
    actor->start([&o, &calls, r, buffers, &result] { rank_program(o, calls, r, buffers, result); });
  }
  engine.run();
  if (result.complete != o.ranks) throw std::runtime_error("not all ranks have completed the call");
  return result.seconds;
}

[[noreturn]] void simulate_and_exit(const options& o, calls_to_time& calls) {
  limit(RLIMIT_CORE, 0);
  // SimGrid reports a crash of SMPI there.
  if (std::freopen("/dev/null", "w", stderr) == nullptr) _exit(1);
  double seconds = 0;
  try {
    seconds = simulate(o, calls);
  } catch (const std::exception&) {
    _exit(1);
  }
  _exit(write(calls.result, &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
}

/// Calls `found` with each call and its seconds, or a text: why there are none.
void time_calls(const options& o, const std::string& selector, const std::vector<simulated_call>& all,
                const std::function<void(const simulated_call&, const json&)>& found) {
  if (all.empty()) return;
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) throw std::runtime_error(std::string("pipe: ") + std::strerror(errno));
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error(std::string("fork: ") + std::strerror(errno));
  if (child == 0) {
    close(ends[0]);
    calls_to_time calls{selector, all, ends[1]};
    simulate_and_exit(o, calls);
  }
  close(ends[1]);
  std::string text;
  std::size_t next = 0;
  char byte = 0;
  while (read(ends[0], &byte, 1) == 1) {
    if (byte != '\n') {
      text += byte;
      continue;
    }
    found(all[next++], json::parse(text));
    text.clear();
  }
  close(ends[0]);
  const std::string reason = wait_for(o, child);
  while (next < all.size()) found(all[next++], reason);
}

json read_file(const std::string& file) {
  std::ifstream in(file);
  if (!in) return json{{"schema", "tutti/selector-times/1"}, {"simgrid", "3.32"}, {"cells", json::array()}};
  json all = json::parse(in);
  if (all.at("schema") != "tutti/selector-times/1") throw std::runtime_error(file + " has another schema");
  return all;
}

// One line for each cell, so that differences are readable.
void write_file(const std::string& file, const json& all) {
  const std::string unfinished = file + ".new";
  std::ofstream out(unfinished);
  out << "{\n  \"schema\": " << all["schema"] << ",\n  \"simgrid\": " << all["simgrid"]
      << ",\n  \"cells\": [";
  const char* before = "\n    ";
  for (const json& cell : all["cells"]) {
    out << before << cell.dump();
    before = ",\n    ";
  }
  out << "\n  ]\n}\n";
  out.close();
  if (!out) throw std::runtime_error(unfinished + " could not be written");
  std::filesystem::rename(unfinished, file);
}

json& cell_of(json& cells, const options& o, const char* what, std::size_t bytes) {
  for (json& c : cells)
    if (c["machine"] == o.machine && c["ranks"] == o.ranks && c["collective"] == what && c["bytes"] == bytes)
      return c;
  cells.push_back({{"machine", o.machine}, {"ranks", o.ranks}, {"collective", what}, {"bytes", bytes}});
  return cells.back();
}

void fill(const options& o) {
  json all = read_file(o.file);
  for (const char* selector : selectors) {
    std::vector<simulated_call> missing;
    for (const char* what : collectives)
      for (const std::size_t bytes : sizes) {
        const bool has_data = std::string_view(what) != "barrier";
        if (!has_data && bytes != sizes[0]) continue;
        if (!cell_of(all["cells"], o, what, has_data ? bytes : 0).contains(selector))
          missing.push_back({what, has_data ? bytes : 0});
      }
    time_calls(o, selector, missing, [&](const simulated_call& c, const json& time) {
      cell_of(all["cells"], o, c.what.c_str(), c.bytes)[selector] = time;
      write_file(o.file, all);
      std::printf("%s %d %s %zu %s: %s\n", o.machine.c_str(), o.ranks, c.what.c_str(), c.bytes, selector,
                  time.dump().c_str());
      std::fflush(stdout);
    });
  }
}

int verify(const options& o) {
  json all = read_file(o.file);
  int verified = 0, wrong = 0;
  for (const char* selector : selectors) {
    std::vector<simulated_call> short_ones;
    for (const json& cell : all["cells"])
      if (cell["machine"] == o.machine && cell["ranks"] == o.ranks && cell["bytes"] <= sizes[0] &&
          cell.contains(selector))
        short_ones.push_back({cell["collective"], cell["bytes"]});
    time_calls(o, selector, short_ones, [&](const simulated_call& c, const json& again) {
      const json& known = cell_of(all["cells"], o, c.what.c_str(), c.bytes)[selector];
      // A crash may end by another signal.
      const bool both = again.is_number() && known.is_number();
      const bool same = both ? std::abs(again.get<double>() / known.get<double>() - 1) < 1e-6
                             : again.is_number() == known.is_number();
      ++verified;
      wrong += same ? 0 : 1;
      if (!same)
        std::printf("%s %s: the file has %s, SimGrid yields %s\n", c.what.c_str(), selector,
                    known.dump().c_str(), again.dump().c_str());
    });
  }
  std::printf("%d times, %d differ\n", verified, wrong);
  return verified > 0 && wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Adds the simulated times of the collectives of four MPIs to a JSON file");
  options o;
  app.add_option("machine", o.machine, "flat, fat-tree or eight-per-node")
      ->required()
      ->check(CLI::IsMember({"flat", "fat-tree", "eight-per-node"}));
  app.add_option("ranks", o.ranks, "A multiple of 8")->required()->check(CLI::Range(8, 1024));
  app.add_option("file", o.file, "It is created if it does not exist")->required();
  app.add_option("--seconds", o.seconds, "Processor time of one call")->capture_default_str();
  app.add_option("--gigabytes", o.gigabytes, "Memory of one call")->capture_default_str();
  app.add_flag("--verify", o.verify, "Simulate the calls of 8 B again and compare");
  CLI11_PARSE(app, argc, argv);
  try {
    if (o.ranks % 8 != 0) throw std::invalid_argument("the number of ranks is no multiple of 8");
    if (o.verify) return verify(o);
    fill(o);
    return 0;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "selector_times: %s\n", e.what());
    return 1;
  }
}

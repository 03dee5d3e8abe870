// SPDX-License-Identifier: Apache-2.0
#include "engines.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <thread>

#include <fmt/format.h>

#include "demo_progress.hpp"
#include "support/child.hpp"
#include "support/input_error.hpp"

namespace demo {
namespace {

namespace fs = std::filesystem;

const fs::path& self() {
  static const fs::path path = fs::read_symlink("/proc/self/exe");
  return path;
}

bool is_mpi(const std::string& name) { return name == "openmpi" || name == "mpich"; }

/// Returns the first executable of that name in PATH, or an empty string.
std::string in_path(const std::string& program) {
  std::istringstream folders(std::getenv("PATH") ? std::getenv("PATH") : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const fs::path file = fs::path(folder) / program; access(file.c_str(), X_OK) == 0) return file;
  return {};
}

/// Returns the launcher of an MPI. Looks for the MPI's name in the name of the launcher, and
/// otherwise in what plain mpirun prints about itself.
std::string launcher_of(const std::string& mpi) {
  for (const char* program : {"mpirun.", "mpiexec."})
    if (std::string found = in_path(program + mpi); !found.empty()) return found;
  const std::string any = in_path("mpirun");
  if (any.empty()) return {};
  bool is_it = false;
  child version_query({any, "--version"}, std::chrono::seconds(10), true);
  for (std::string line; version_query.line(line);)
    is_it |= line.find(mpi == "openmpi" ? "Open MPI" : "HYDRA") != std::string::npos;
  return is_it ? any : "";
}

/// Returns why an engine cannot run here; empty if it can.
std::string missing_part(const std::string& name) {
  if (!is_mpi(name)) return {};
  if (launcher_of(name).empty()) return "not installed";
  std::istringstream folders(
      std::string(std::getenv("TUTTI_MODULE_PATH") ? std::getenv("TUTTI_MODULE_PATH") : "") + ":" +
      (self().parent_path() / "../lib/tutti").string());
  for (std::string folder; std::getline(folders, folder, ':');)
    if (fs::exists(fs::path(folder) / ("libtutti-mpi-" + name + ".so"))) return {};
  return "tutti was built without a module for it: install its lib" + name + "-dev and build again";
}

// Outcomes travel from a job to the demo as text: one line each, with fields separated by tabs.
constexpr std::string_view line_prefix = "demo-outcome";

void send(const outcome& o) {
  fmt::print("{}\t{}\t{:.9f}\t{}\t{}\t{}\t{}\n", line_prefix, o.name, o.seconds, o.bytes, o.hash, o.right,
             o.algorithms);
}

bool receive(const std::string& line, outcome& o) {
  std::istringstream in(line);
  std::vector<std::string> field;
  for (std::string text; std::getline(in, text, '\t');) field.push_back(text);
  if (field.size() < 6 || field[0] != line_prefix) return false;
  o = {field[1],
       std::stod(field[2]),
       std::stoull(field[3]),
       std::stoull(field[4]),
       field[5] == "true",
       field.size() > 6 ? field[6] : ""};
  return true;
}

void run_embedded(run& result, const material& input) {
  tutti::run_options options;
  options.engine = result.on.name;
  options.ranks = result.on.ranks;
  tutti::run(options, [&](tutti::communicator& world) {
    const bool first = world.rank() == 0;
    auto outcomes = work(world, first ? &input : nullptr);
    if (first) result.outcomes = std::move(outcomes);
  });
}

void run_job(run& result, const request& options) {
  setenv("OMPI_ALLOW_RUN_AS_ROOT", "1", 0);
  setenv("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1", 0);
  std::vector<std::string> command{launcher_of(result.on.name), "-n", std::to_string(result.on.ranks)};
  if (result.on.name == "openmpi") command.insert(command.begin() + 1, "--oversubscribe");
  command.insert(command.end(), {self(), "--report"});
  if (!options.edges.empty()) command.insert(command.end(), {"--edges", fs::absolute(options.edges)});
  if (!options.from.empty()) command.push_back("--from=" + options.from);
  if (!options.texts.empty()) command.push_back("--text");
  for (const std::string& text : options.texts) command.push_back(fs::absolute(text));

  child job(command, std::chrono::minutes(10));
  outcome one;
  for (std::string line; job.line(line);)
    if (receive(line, one))
      result.outcomes.push_back(one);
    else
      fmt::print(stderr, "{}\n", line);
  if (const int code = job.finish(); code != 0)
    result.problem = fmt::format("{} ended with exit code {}", command[0], code);
  else if (result.outcomes.empty())
    result.problem = fmt::format("{}: it reported no result", command[0]);
}

}  // namespace

plan make_plan(const std::string& list) {
  const int cores = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  const bool all = list.empty();
  std::istringstream words(all ? "threads,fibers,openmpi,mpich" : list);
  plan made;
  made.engines.push_back({"threads", 1});
  for (std::string word; std::getline(words, word, ',');) {
    engine wanted{word.substr(0, word.find(':')), 0};
    const auto reject = [&](const std::string& why) {
      throw input_error(
          "--engines",
          fmt::format("\"{}\": {}; pass engines such as threads, fibers:256, openmpi, mpich:2", word, why));
    };
    if (wanted.name == "threads")
      wanted.ranks = cores;
    else if (wanted.name == "fibers")
      wanted.ranks = 64;
    else if (is_mpi(wanted.name))
      wanted.ranks = 4;
    else
      reject("there is no such engine");
    if (const auto colon = word.find(':'); colon != std::string::npos) {
      const char* end = word.data() + word.size();
      const auto [stop, fault] = std::from_chars(word.data() + colon + 1, end, wanted.ranks);
      if (fault != std::errc{} || stop != end || wanted.ranks < 1 || wanted.ranks > 65536)
        reject("after the colon comes the number of ranks, 1 to 65536");
    }
    if (const std::string why = missing_part(wanted.name); why.empty()) {
      if (wanted.name != "threads" || wanted.ranks != 1) made.engines.push_back(wanted);
    } else if (all) {
      made.absent.emplace_back(wanted.name, why);
    } else {
      reject(why);
    }
  }
  return made;
}

run run_on(const engine& where, const material& input, const request& options) {
  run result{where, {}, {}};
  const progress showing(
      fmt::format("working on {} with {} rank{}", where.name, where.ranks, where.ranks == 1 ? "" : "s"));
  try {
    if (is_mpi(where.name))
      run_job(result, options);
    else
      run_embedded(result, input);
  } catch (const std::exception& e) {
    result.problem = e.what();
  }
  return result;
}

bool under_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMIX_RANK"})
    if (std::getenv(name)) return true;
  return false;
}

int run_as_rank(const request& user_options, bool report, void (*show)(const run&, const material&)) {
  int code = 0;
  tutti::run_options options;
  options.engine = "mpi";
  try {
    tutti::run(options, [&](tutti::communicator& world) {
      material input;
      const bool first = world.rank() == 0;
      if (first) {
        try {
          input = read(user_options);
        } catch (const std::exception& e) {
          fmt::print(stderr, "demo: {}\n", e.what());
          code = 2;
        }
      }
      world.bcast(tutti::send_recv_buf(code));
      if (code != 0) return;
      const run done{{"mpi", world.size()}, work(world, first ? &input : nullptr), {}};
      for (const outcome& o : done.outcomes) code |= o.right ? 0 : 1;
      if (!first) return;
      if (report)
        for (const outcome& o : done.outcomes) send(o);
      else
        show(done, input);
    });
  } catch (const std::exception& e) {
    fmt::print(stderr, "demo: {}\n", e.what());
    return 1;
  }
  return code;
}

}  // namespace demo

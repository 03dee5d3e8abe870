// SPDX-License-Identifier: Apache-2.0
//
// Measures every algorithm of the catalogue and the engine's native collective at several sizes. It
// uses the engine that the program is started on. With --engines it starts itself again on each of
// several engines.
//
// bench/protocol.hpp describes how a call is timed, and src/tuning/measured_call.hpp its data. This
// program has four features of its own:
//
// The algorithm. Each measurement has a new communicator on which one algorithm is forced, as the
// variable TUTTI_<COLLECTIVE>_ALGORITHM does for a whole process. So the timed calls name no
// algorithm and take the path of any repeated call. They validate, choose and look up nothing, and
// neither does the native collective. Vector forms with counts are always validated and chosen at
// every call. Here this means a look-up of the name, some tenths of a microsecond in every row.
//
// The span. A time is from the begin of the first rank to the end of the last. The slowest rank's
// own time, which compare uses, would hide most of a broadcast whose ranks share a core and arrive
// one by one.
//
// The order. The algorithms of one table take turns: each is measured once, then all again in the
// opposite order or, with --engines, in another program. The best of the rounds counts. So a
// disturbance of the machine affects all of them.
//
// The time. When the seconds are over, the program skips the remaining measurements and reports
// their number. The remaining time is divided among the remaining collectives and sizes. So a slow
// engine also shows a part of each table, and always the native collective.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sstream>
#include <tuple>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include "compare/process.hpp"
#include "engines/engine_table.hpp"
#include "every_algorithm/measuring.hpp"
#include "machine_speed.hpp"
#include "protocol.hpp"
#include "tutti/collective.hpp"

namespace {

using bench::record;
using json = nlohmann::ordered_json;

struct engine {
  std::string name;
  int ranks = 0;
};

struct settings {
  bench::campaign_options here;
  std::vector<engine> engines;
  std::string json_file, shown_file;
  double minutes = 5;
  bool quick = false, lines = false, best = false;
};

constexpr const char* examples = R"(
The number beside a time is its ratio to the time of the native collective: below 1x the algorithm is faster.
A star marks the fastest of a column.

Examples:
  every_algorithm --quick                                    the engine that TUTTI_ENGINE and TUTTI_RANKS name
  every_algorithm --collective allreduce --sizes 8,64K       one collective, two sizes
  mpirun -n 2 every_algorithm --collective bcast --parameters
  every_algorithm --engines threads,fibers:16,openmpi:2,mpich:2 --json all.json
  every_algorithm --show all.json --best
  every_algorithm --engines all --ranks 4 --quick)";

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream from(text);
  for (std::string word; std::getline(from, word, ',');) words.push_back(word);
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

std::vector<engine> read_engines(const std::string& text, int ranks) {
  const int cores = static_cast<int>(bench::usable_cores().size());
  std::vector<engine> all;
  std::string names;
  for (const tutti::detail::engine_entry* e : tutti::detail::engines())
    if (e->embedded())
      all.push_back({std::string(e->name), e->ranks_to_tune != 0 ? 2 * e->ranks_to_tune : cores});
  for (const char* mpi : {"openmpi", "mpich"}) all.push_back({mpi, cores});
  for (const engine& e : all) names += (names.empty() ? "" : ",") + e.name;
  std::vector<engine> found;
  for (const std::string& word : words_of(text == "all" ? names : text)) {
    const std::string name = word.substr(0, word.find(':'));
    const auto known = std::find_if(all.begin(), all.end(), [&](const engine& e) { return e.name == name; });
    if (known == all.end()) throw CLI::ValidationError("--engines", names + " are known, but not " + word);
    engine e = *known;
    if (ranks > 0) e.ranks = ranks;
    if (const auto colon = word.find(':'); colon != word.npos) e.ranks = std::atoi(word.c_str() + colon + 1);
    if (e.ranks < 1)
      throw CLI::ValidationError("--engines", word + ": the number of ranks is not a positive number");
    found.push_back(e);
  }
  return found;
}

void add_options(CLI::App& app, settings& s, std::string& engines) {
  const std::vector<std::string> known(tutti::collective_names.begin(), tutti::collective_names.end());
  s.here.collectives = known;
  app.add_option("--collective,--collectives", s.here.collectives, "Collectives to measure; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(known))
      ->option_text("NAME,...");
  app.add_option("--sizes", s.here.sizes,
                 "Bytes of the whole vector; default 8,1K,64K,1M; see src/tuning/measured_call.hpp")
      ->delimiter(',')
      ->transform(CLI::AsSizeValue(false))
      ->check(CLI::Range(std::size_t{1}, bench::largest_size))
      ->option_text("BYTES,...");
  app.add_option("--algorithms", s.here.algorithms,
                 "Algorithms whose name contains one of these, and the native one; default: all")
      ->delimiter(',')
      ->option_text("TEXT,...");
  app.add_option("--ranks", s.here.ranks, "Number of ranks; default: TUTTI_RANKS")
      ->check(CLI::Range(1, 4096))
      ->option_text("P");
  app.add_option("--engines", engines,
                 "Start the program on each of these: threads, fibers, openmpi, mpich, or all; with a number "
                 "of ranks, such as fibers:16")
      ->option_text("NAME[:P],...");
  app.add_flag("--parameters", s.here.parameters, "Also other values of k, radix and segment");
  app.add_flag("--in-place", s.here.in_place, "Calls in place, if the collective has them");
  app.add_option("--budget-ms", s.here.budget_ms, "Time for one measurement")
      ->check(CLI::Range(0.1, 1e6))
      ->option_text(bench::with_default("MS", s.here.budget_ms));
  app.add_option("--repeat", s.here.repeat,
                 "Number of measurements of each algorithm, of which the best counts; with --engines each in "
                 "its own program")
      ->check(CLI::Range(1, 1000))
      ->option_text(bench::with_default("TIMES", s.here.repeat));
  app.add_option("--seconds", s.here.seconds,
                 "Time for one engine; with --engines for one collective on one engine")
      ->check(CLI::Range(0.1, 1e6))
      ->option_text(bench::with_default("SECONDS", s.here.seconds));
  app.add_option("--minutes", s.minutes,
                 "With --engines: the time after which no further round of programs begins")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text(bench::with_default("MINUTES", s.minutes));
  app.add_option("--json", s.json_file, "Write all figures to this file")->option_text("FILE");
  app.add_option("--show", s.shown_file, "Measure nothing; show the figures of a file that --json wrote")
      ->check(CLI::ExistingFile)
      ->option_text("FILE");
  app.add_flag("--best", s.best,
               "One table of the fastest algorithms, and their time over that of the native one");
  app.add_flag("--lines", s.lines,
               "Print each figure as a line of JSON as soon as it is measured, and no tables");
  app.add_flag("--quick", s.quick,
               "Change the defaults to 8 B, 8 KiB and 256 KiB, once each, and 12 seconds for an engine");
}

settings parse(int argc, char** argv) {
  settings s;
  CLI::App app("Measures every algorithm and the engine's own collective.");
  app.footer(examples);
  std::string engines;
  add_options(app, s, engines);
  try {
    app.parse(argc, argv);
    if (!engines.empty()) s.engines = read_engines(engines, s.here.ranks);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (s.quick) {
    if (app.count("--sizes") == 0) s.here.sizes = {8, 8192, 262144};
    if (app.count("--repeat") == 0) s.here.repeat = 1;
    if (app.count("--budget-ms") == 0) s.here.budget_ms = 2;
    if (app.count("--seconds") == 0) s.here.seconds = 12;
  }
  return s;
}

// Prints only to a terminal, because a log has no use for it.
class progress {
 public:
  void step(const std::string& what) {
    if (terminal_) fmt::print(stderr, "\r\033[K{}", what);
    if (terminal_) std::fflush(stderr);
  }
  void report(const std::string& what) {
    step("");
    fmt::print(stderr, "{}\n", what);
  }

 private:
  bool terminal_ = isatty(STDERR_FILENO) != 0;
};

// Returns the command that starts this program on an engine, and its variables.
std::pair<std::vector<std::string>, bench::environment> command(const settings& s, const engine& e,
                                                                const std::vector<std::string>& collectives) {
  std::vector<std::string> words;
  bench::environment variables{
      {"TUTTI_ENGINE", std::nullopt}, {"TUTTI_RANKS", std::nullopt}, {"TUTTI_MPI", std::nullopt}};
  if (tutti::detail::find_engine(e.name) != nullptr) {
    variables[0].second = e.name;
    variables[1].second = std::to_string(e.ranks);
  } else {
    words = bench::launcher_command("mpirun." + e.name, e.ranks, variables);
  }
  // Binds ranks to cores, as Open MPI does by default. Two ranks that wait for each other on one
  // core need a scheduler slice for each message, and MPICH would leave them there.
  if (e.name == "mpich" && e.ranks <= static_cast<int>(bench::usable_cores().size()))
    words.insert(words.end(), {"-bind-to", "core"});
  std::vector<std::string> sizes;
  for (const std::size_t bytes : s.here.sizes) sizes.push_back(std::to_string(bytes));
  words.insert(words.end(), {std::filesystem::read_symlink("/proc/self/exe").string(), "--lines",
                             "--collective", joined(collectives), "--sizes", joined(sizes), "--budget-ms",
                             fmt::format("{}", s.here.budget_ms), "--repeat", std::to_string(s.here.repeat),
                             "--seconds", fmt::format("{}", s.here.seconds)});
  if (!s.here.algorithms.empty()) words.insert(words.end(), {"--algorithms", joined(s.here.algorithms)});
  if (s.here.parameters) words.emplace_back("--parameters");
  if (s.here.in_place) words.emplace_back("--in-place");
  return {words, variables};
}

// Keeps the best figure of each case, in the order of arrival.
void add(std::vector<record>& all, const record& one) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const record& r) {
    return std::tie(r.algorithm, r.bytes, r.engine, r.ranks) ==
           std::tie(one.algorithm, one.bytes, one.engine, one.ranks);
  });
  if (found == all.end()) {
    all.push_back(one);
  } else if (found->error.empty() && (!one.error.empty() || one.us < found->us)) {
    *found = one;
  }
}

// Starts one program for each engine and collective, in each round. So a failing program affects no
// other, and engines measure the same collective at nearly the same time. With --quick there is one
// program for each engine.
std::vector<record> measure_engines(const settings& s, progress& p, bool& good) {
  std::vector<record> all;
  std::vector<std::vector<std::string>> groups;
  if (s.quick) {
    groups.push_back(s.here.collectives);
  } else {
    for (const std::string& one : s.here.collectives) groups.push_back({one});
  }
  double near = 1e9, far = 0;
  const auto start = bench::clock::now();
  for (int repeat = 0; repeat < s.here.repeat; ++repeat) {
    if (repeat > 0 && bench::seconds(bench::clock::now() - start).count() > 60 * s.minutes) {
      p.report(fmt::format("{} minutes are over after {} of {} rounds", s.minutes, repeat, s.here.repeat));
      break;
    }
    for (const auto& group : groups) {
      for (const engine& e : s.engines) {
        const auto label =
            fmt::format("{} p={}, {}", e.name, e.ranks, group.size() == 1 ? group[0] : "everything");
        p.step(fmt::format("{} of {}: {}", repeat + 1, s.here.repeat, label));
        const auto [words, variables] = command(s, e, group);
        if (words[0].find('/') == std::string::npos && !bench::in_path(words[0])) {
          if (repeat == 0) p.report(fmt::format("{} is skipped: {} was not found", label, words[0]));
          continue;
        }
        const double trip = bench::round_trip();
        near = std::min(near, trip);
        far = std::max(far, trip);
        const auto child = bench::run_child(words, variables, bench::seconds(2 * s.here.seconds + 30));
        std::istringstream lines(child.out);
        for (std::string line; std::getline(lines, line);)
          if (!line.empty() && line.front() == '{') add(all, json::parse(line).get<record>());
        if (child.timed_out) p.report(label + ": ended because it took too long");
        if (child.status != 0) p.report(fmt::format("{}: ended with status {}", label, child.status));
        if (!child.err.empty()) p.report(child.err.substr(0, child.err.find_last_not_of('\n') + 1));
        good = good && child.status == 0;
      }
    }
  }
  p.step("");
  if (!s.lines && far > 0)
    fmt::print("round trip of a cache line between two cores: {:.0f} to {:.0f} ns\n\n", near, far);
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  const settings s = parse(argc, argv);
  std::ofstream file;
  if (!s.json_file.empty()) {  // opened first, so that an error comes before minutes of measuring
    file.open(s.json_file);
    if (!file) {
      fmt::print(stderr, "every_algorithm: {} cannot be written\n", s.json_file);
      return 2;
    }
  }
  try {
    progress p;
    std::vector<record> all;
    bool good = true;
    if (!s.shown_file.empty()) {
      std::ifstream from(s.shown_file);
      for (const json& one : json::parse(from)) all.push_back(one.get<record>());
    } else if (!s.engines.empty()) {
      all = measure_engines(s, p, good);
    } else {
      good = bench::measure_here(argc, argv, s.here, [&](const record& r) {
               if (s.lines) std::cout << json(r).dump() << std::endl;
               if (!s.lines) p.step(fmt::format("{}, {} bytes", r.algorithm, r.bytes));
               all.push_back(r);
             }) == 0;
      if (!s.lines) p.step("");
    }
    if (!s.lines) s.best ? bench::print_best(all) : bench::print_tables(all);
    if (file.is_open()) {
      file << json(all).dump(1) << "\n";
      if (!file.flush()) {
        fmt::print(stderr, "every_algorithm: {} could not be written\n", s.json_file);
        return 2;
      }
    }
    return good ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "every_algorithm: {}\n", error.what());
    return 2;
  }
}

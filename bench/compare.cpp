// SPDX-License-Identifier: Apache-2.0
//
// Compares tutti with the native collectives of Open MPI and MPICH: every collective, size, number
// of ranks and engine. This program starts a program for each engine, because an MPI can be linked
// only once, and a failing program must affect no other. The programs take turns in several rounds,
// so that a disturbance of the machine affects all of them.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <CLI/CLI.hpp>
#include <fmt/core.h>
#include <unistd.h>

#include "compare/compared_results.hpp"
#include "compare/process.hpp"
#include "progress.hpp"
#include "protocol.hpp"

namespace {

namespace fs = std::filesystem;

struct settings {
  bench::options measure;
  std::vector<int> ranks{2, 4, 8};
  std::vector<std::string> engines;
  int repeat = 3;
  double timeout_s = 120;
  double minutes = 5;
  std::string json;
  bool quick = false;
  bench::cluster where{TUTTI_CLUSTER, 0, "1gbit", "100us"};
};

constexpr const char* examples = R"(
Engines: threads, fibers (tutti in one process), tutti_openmpi, tutti_mpich (tutti over an MPI),
native_openmpi, native_mpich (the MPI's own collectives). tutti's default engine is threads up to the number
of cores, fibers beyond.

Examples:
  compare --quick                                    a first look, in less than a minute
  compare --ranks 2 --collectives allreduce,bcast    two collectives at p = 2
  compare --engines fibers,native_openmpi --ranks 8 --sizes 8,32KiB --repeat 5
  compare --shared --engines tutti_mpich,native_mpich --sizes 1MiB,16MiB
  compare --json compare.json                        everything, for other programs to read
  compare --cluster 4 --ranks 8 --sizes 8,1KiB       4 nodes of 2 ranks and a network (scripts/cluster)
Other variables, such as TUTTI_ALLREDUCE_ALGORITHM, reach the programs unchanged.)";

[[noreturn]] void refuse(const std::string& why) {
  fmt::print(stderr, "compare: {}\n", why);
  std::exit(2);
}

// Ends the program if this machine cannot run these jobs on a cluster.
void demand_cluster(settings& s, bool has_engines) {
  if (!has_engines) s.engines = {"tutti_openmpi", "native_openmpi"};
  for (const auto& name : s.engines) {
    const std::string& launcher = bench::engine_of(name).launcher;
    if (launcher.empty()) refuse(fmt::format("--cluster: {} has no ranks on several nodes", name));
    auto words = s.where.command(launcher);
    words.push_back("--check");
    const auto found = bench::run_child(words, {}, bench::seconds(30));
    if (found.status != 0) {
      fmt::print(stderr, "{}", found.err);
      std::exit(1);
    }
  }
  for (const int ranks : s.ranks) {
    if (ranks % s.where.nodes != 0) {
      refuse(fmt::format("--cluster: {} ranks are not the same number on each of {} nodes", ranks,
                         s.where.nodes));
    }
  }
}

settings parse(int argc, char** argv) {
  settings s;
  std::vector<std::string> names;
  for (const auto& e : bench::engines()) names.push_back(e.name);
  s.engines = names;
  CLI::App app("Compares the collectives of tutti with the native ones of Open MPI and MPICH.");
  app.footer(examples);
  bench::add_options(app, s.measure);
  bench::add_shared_option(app, s.measure);
  app.add_option("--ranks", s.ranks, "Numbers of ranks; default 2,4,8")
      ->delimiter(',')
      ->check(CLI::Range(1, 4096))
      ->option_text("P,...");
  app.add_option("--engines", s.engines, "Engines to measure; default: all")
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->option_text("NAME,...");
  app.add_option("--repeat", s.repeat, "How often each program runs; the best run counts")
      ->check(CLI::Range(1, 1000))
      ->option_text(bench::with_default("TIMES", s.repeat));
  app.add_option("--timeout", s.timeout_s, "Time after which a program is ended")
      ->check(CLI::Range(1.0, 1e6))
      ->option_text(bench::with_default("SECONDS", s.timeout_s));
  app.add_option("--minutes", s.minutes,
                 "Time after which no further round begins; the first is always finished")
      ->check(CLI::Range(0.0, 1e6))
      ->option_text(bench::with_default("MINUTES", s.minutes));
  auto* const cluster =
      app.add_option(
             "--cluster", s.where.nodes,
             "Run each job on a cluster of so many nodes on this machine (scripts/cluster), over Open MPI "
             "unless --engines names others")
          ->check(CLI::Range(1, 16))
          ->option_text("NODES");
  app.add_option("--rate", s.where.rate, "Rate of the cluster's links")
      ->needs(cluster)
      ->option_text(fmt::format("RATE [{}]", s.where.rate));
  app.add_option("--delay", s.where.delay, "Time that a packet takes between nodes of the cluster")
      ->needs(cluster)
      ->option_text(fmt::format("TIME [{}]", s.where.delay));
  app.add_option("--json", s.json, "Write all figures to this file")->option_text("FILE");
  app.add_flag("--quick", s.quick,
               "Change the defaults: each program once, 8 B, 32 KiB and 1 MiB, half the time for each, and "
               "no MPICH with more ranks than cores");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error));
  }
  if (s.where.nodes > 0) demand_cluster(s, app.count("--engines") > 0);
  if (s.quick) {
    if (app.count("--sizes") == 0) s.measure.sizes = {8, 32768, 1048576};
    if (app.count("--repeat") == 0) s.repeat = 1;
    if (app.count("--budget-ms") == 0) s.measure.budget_ms /= 2;
  }
  return s;
}

class driver {
 public:
  driver(const settings& s, bench::progress& p)
      : settings_(s),
        progress_(p),
        folder_(fs::read_symlink("/proc/self/exe").parent_path()),
        cores_(static_cast<int>(bench::usable_cores().size())),
        results_(cores_) {}

  // Finds the engines that can be measured, and reports those that cannot.
  void find_engines() {
    for (const auto& e : bench::engines()) {
      if (std::find(settings_.engines.begin(), settings_.engines.end(), e.name) == settings_.engines.end())
        continue;
      if (access((folder_ / e.program).c_str(), X_OK) != 0) {
        progress_.report(fmt::format("{} is skipped: the program {} is not in the folder of this one",
                                     e.title, e.program));
      } else if (!e.launcher.empty() && !bench::in_path(e.launcher)) {
        progress_.report(fmt::format("{} is skipped: {} was not found", e.title, e.launcher));
      } else {
        present_.push_back(e);
      }
    }
  }

  void measure_all() {
    if (double load = 0; getloadavg(&load, 1) == 1 && load > 0.5 * cores_) {
      progress_.report(
          fmt::format("the machine is or was busy (load {:.1f}): the figures are less reliable, above all "
                      "those with more ranks than cores",
                      load));
    }
    for (int repeat = 0; repeat < settings_.repeat && !present_.empty(); ++repeat) {
      results_.add(bench::copy_speed());
      for (const int ranks : settings_.ranks) {
        if (repeat > 0 && time_is_up()) continue;
        auto order = present_;
        // No engine always comes first.
        if (repeat % 2 == 1) std::reverse(order.begin(), order.end());
        for (const auto& e : order) {
          // Further rounds would only wait minutes for the scheduler.
          if (waits_for_scheduler(e, ranks, cores_) && (repeat > 0 || settings_.quick)) continue;
          measure(e, ranks, repeat, fmt::format("round {} of {}", repeat + 1, settings_.repeat));
        }
      }
    }
    // If the cores moved in the meantime, some engines have no run that is comparable with the
    // others (round_trip()).
    for (int extra = 0; extra < 3; ++extra) {
      for (const int ranks : settings_.ranks) {
        for (const auto& name : results_.missing(ranks)) {
          if (time_is_up()) continue;
          measure(bench::engine_of(name), ranks, settings_.repeat + extra,
                  "once more, because the cores have changed");
        }
      }
    }
    progress_.clear();
  }

  [[nodiscard]] const bench::results& results() const { return results_; }

 private:
  [[nodiscard]] std::pair<std::vector<std::string>, bench::environment> command(const bench::engine& e,
                                                                                int ranks) const {
    std::vector<std::string> words;
    bench::environment variables{{"TUTTI_ENGINE", std::nullopt}, {"TUTTI_RANKS", std::nullopt}};
    if (e.launcher.empty()) {
      variables = {{"TUTTI_ENGINE", e.name}, {"TUTTI_RANKS", std::to_string(ranks)}};
    } else {
      words = settings_.where.nodes > 0 ? bench::cluster_command(settings_.where, e.launcher, ranks)
                                        : bench::launcher_command(e.launcher, ranks, variables);
    }
    bench::options o = settings_.measure;
    // Longer measurements do not make a scheduler slice more precise.
    if (waits_for_scheduler(e, ranks, cores_)) o.budget_ms = std::max(0.1, o.budget_ms / 10);
    words.push_back((folder_ / e.program).string());
    for (const auto& word : bench::arguments(o)) words.push_back(word);
    return {words, variables};
  }

  // Stops only between rounds. Within a round, some engines would have fewer runs to choose the
  // best from.
  bool time_is_up() {
    if (bench::seconds(bench::clock::now() - start_).count() < settings_.minutes * 60) return false;
    progress_.report_once(
        fmt::format("{} minutes are over: the remaining rounds are skipped", settings_.minutes));
    return true;
  }

  void measure(const bench::engine& e, int ranks, int repeat, const std::string& when) {
    progress_.step(fmt::format("p = {}, {} ({})", ranks, e.title, when));
    bench::attempt r{ranks, e.name, repeat, bench::round_trip(), 0, {}, {}};
    const auto [words, variables] = command(e, ranks);
    const auto child = bench::run_child(words, variables, bench::seconds(settings_.timeout_s));
    r.trip_after = bench::round_trip();
    read(child.out, e, r);
    const auto label = fmt::format("p = {}, {}", ranks, e.title);
    if (child.timed_out) {
      progress_.report(fmt::format("{}: ended after {} s; {} figures until then", label, settings_.timeout_s,
                                   r.figures.size()));
    } else if (child.status != 0 || r.figures.empty()) {
      progress_.report(
          fmt::format("{}: ended with status {} and {} figures", label, child.status, r.figures.size()));
      progress_.report(tail(child.err));
    }
    results_.add(std::move(r));
  }

  void read(const std::string& out, const bench::engine& e, bench::attempt& r) {
    const auto label = fmt::format("p = {}, {}", r.ranks, e.title);
    std::istringstream lines(out);
    for (std::string line; std::getline(lines, line);) {
      if (line.empty() || line.front() != '{') continue;
      try {
        const auto record = nlohmann::json::parse(line);
        const auto collective = record.at("collective").get<std::string>();
        const auto bytes = record.at("bytes").get<std::size_t>();
        // The launcher of another MPI would start p programs of one rank each.
        if (const int ranks = record.at("ranks").get<int>(); ranks != r.ranks) {
          progress_.report_once(fmt::format("{}: ran with {} ranks; its figures are dropped", label, ranks));
        } else if (record.contains("error")) {
          progress_.report(fmt::format("{}: {} of {} bytes: {}", label, collective, bytes,
                                       record["error"].get<std::string>()));
        } else {
          r.figures[{collective, bytes}] = {record.at("us").get<double>(), record.value("noise", 0.0),
                                            record.value("algorithm", std::string())};
        }
      } catch (const nlohmann::json::exception&) {
        progress_.report(fmt::format("{}: a line that is not a result: {}", label, line));
      }
    }
  }

  // Returns the last lines that a program printed before it failed.
  static std::string tail(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream all(text);
    for (std::string line; std::getline(all, line);) {
      if (line.find_first_not_of(" -=\t") != std::string::npos) lines.push_back("    " + line);
    }
    std::string result;
    for (std::size_t i = lines.size() > 5 ? lines.size() - 5 : 0; i < lines.size(); ++i) {
      result += (result.empty() ? "" : "\n") + lines[i];
    }
    return result.empty() ? "    (it printed nothing)" : result;
  }

  const settings& settings_;
  bench::progress& progress_;
  fs::path folder_;
  int cores_;
  std::vector<bench::engine> present_;
  bench::results results_;
  bench::clock::time_point start_ = bench::clock::now();
};

}  // namespace

int main(int argc, char** argv) {
  const settings s = parse(argc, argv);
  std::ofstream file;
  if (!s.json.empty()) {  // opened first, so that an error comes before minutes of measuring
    file.open(s.json);
    if (!file) {
      fmt::print(stderr, "compare: {} cannot be written\n", s.json);
      return 2;
    }
  }
  try {
    bench::progress p;
    driver d(s, p);
    d.find_engines();
    d.measure_all();
    if (d.results().empty()) {
      fmt::print(stderr, "compare: nothing could be measured\n");
      return 1;
    }
    d.results().print(s.measure, s.ranks);
    if (file.is_open()) {
      auto all = d.results().json();
      if (s.where.nodes > 0)
        all["context"]["cluster"] = {
            {"nodes", s.where.nodes}, {"rate", s.where.rate}, {"delay", s.where.delay}};
      file << all.dump(2) << "\n";
      if (!file.flush()) {
        fmt::print(stderr, "compare: {} could not be written\n", s.json);
        return 2;
      }
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "compare: {}\n", error.what());
    return 1;
  }
  return 0;
}

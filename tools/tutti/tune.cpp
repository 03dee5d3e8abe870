// SPDX-License-Identifier: Apache-2.0
//
// tutti tune: measures alternatives to the current choices and writes trees that choose the
// fastest.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "detect_mpi.hpp"
#include "engines/engine_table.hpp"
#include "explain_times.hpp"
#include "output_file.hpp"
#include "progress_bar.hpp"
#include "runtime/launch/make_ranks.hpp"
#include "runtime/launch/modules.hpp"
#include "selection/suggestion.hpp"
#include "selection/tree_text.hpp"
#include "subcommands.hpp"
#include "tree_words.hpp"
#include "tune_options.hpp"
#include "tune_protocol.hpp"
#include "tune_report.hpp"
#include "tuning/machine.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {

std::vector<int> numbers_of_ranks(int ranks, bool quick) {
  std::vector<int> all;
  for (int p = 2; p <= ranks; p *= 2) {
    all.push_back(p);
    if (p + p / 2 < ranks && p > 1) all.push_back(p + p / 2);
  }
  all.push_back(ranks);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  if (quick && all.size() > 3) all = {2, all[all.size() - 2], ranks};
  return all;
}

std::vector<collective> tuned_collectives(const tune_options& w) {
  std::vector<collective> all;
  for (std::size_t i = 0; i < collective_names.size(); ++i)
    if (w.collectives.empty() ||
        std::find(w.collectives.begin(), w.collectives.end(), collective_names[i]) != w.collectives.end())
      all.push_back(static_cast<collective>(i));
  return all;
}

namespace {

using steady = std::chrono::steady_clock;

double seconds_since(steady::time_point start) {
  return std::chrono::duration<double>(steady::now() - start).count();
}

// Describes the environment, so that a reader can judge and repeat the measurements.
std::map<std::string, std::string> fingerprint(const tune_options& w, const std::string& mpi,
                                               const std::vector<int>& ranks) {
  std::map<std::string, std::string> all;
  all["cpu"] = tuning::processor();
  // mpirun may bind this process to one core.
  all["cores"] = std::to_string(sysconf(_SC_NPROCESSORS_ONLN));
  all["engine"] = w.engine;
  for (const int p : ranks) all["ranks"] += (all["ranks"].empty() ? "" : ",") + std::to_string(p);
  if (!mpi.empty()) all["mpi"] = mpi;
  const std::time_t now = std::time(nullptr);
  char day[16];
  std::strftime(day, sizeof day, "%Y-%m-%d", std::gmtime(&now));
  all["date"] = day;
  std::string command = !find_engine(w.engine)->embedded() ? fmt::format("mpirun -n {} ", w.ranks) : "";
  command += fmt::format("tutti tune --engine {} --ranks {}", w.engine, w.ranks);
  if (w.quick) command += " --quick";
  if (w.only) command += " --only";
  const auto list = [&](const char* option, const auto& items) {
    for (std::size_t i = 0; i < items.size(); ++i)
      command += fmt::format("{}{}", i == 0 ? option : ",", items[i]);
  };
  list(" --collectives ", w.collectives);
  list(" --sizes ", w.sizes);
  if (!w.budget.empty()) command += " --budget " + w.budget;
  if (w.gain != tune_options{}.gain) command += fmt::format(" --gain {}", w.gain);
  if (!w.onto.empty()) command += " --onto " + std::filesystem::path(w.onto).filename().string();
  all["command"] = command;
  return all;
}

// Trees that are based on others were measured by several commands, possibly over several MPIs.
std::map<std::string, std::string> merged_machine(std::map<std::string, std::string> now,
                                                  const std::map<std::string, std::string>& former) {
  for (const auto& [key, value] : former) {
    std::string& here = now[key];
    if (here.empty())
      here = value;
    else if (value.find(here) != value.npos)
      here = value;
    else
      here = value + "; " + here;
  }
  return now;
}

std::string text_of_file(const std::string& name) {
  auto [text, problem] = read_tree_text(name);
  if (!problem.empty()) throw called_wrongly{problem};
  return std::move(text);
}

tuning::campaign_options campaign_of(const tune_options& w, double seconds) {
  tuning::campaign_options c;
  c.collectives = tuned_collectives(w);
  c.sizes = w.quick ? std::vector<std::size_t>{8, 1024, 32768, 524288}
                    : std::vector<std::size_t>{8, 64, 512, 2048, 8192, 32768, 262144, 1048576, 4194304};
  if (!w.sizes.empty()) c.sizes = w.sizes;
  c.seconds = seconds;
  if (w.quick) {
    c.parameters = false;
    c.prune = 2.5;
    c.repeat = 2;
    c.budget_ms = 1.5;
  }
  return c;
}

called_wrongly wrong_ranks() {
  return called_wrongly{
      fmt::format("the number of ranks must be {} to {}", min_tuned_ranks, max_tuned_ranks)};
}

void validate_options(tune_options& w) {
  if (!w.rank_list.empty()) {
    const char* const end = w.rank_list.data() + w.rank_list.size();
    const auto [last, error] = std::from_chars(w.rank_list.data(), end, w.ranks);
    if (error != std::errc{} || last != end || w.ranks < min_tuned_ranks) throw wrong_ranks();
  }
  for (const std::string& name : w.collectives)
    if (std::find(collective_names.begin(), collective_names.end(), name) == collective_names.end())
      throw called_wrongly{"there is no collective " + tutti::detail::quoted(name) + "; " +
                           suggest(name, collective_names)};
  std::sort(w.sizes.begin(), w.sizes.end());
  w.sizes.erase(std::unique(w.sizes.begin(), w.sizes.end()), w.sizes.end());
  const launcher by = find_launcher();
  if (w.engine.empty()) w.engine = pick_engine("", {.launched = by.mpi}).name;
  const engine_entry* const engine = find_engine(w.engine);
  if (engine == nullptr)
    throw called_wrongly{"there is no engine " + tutti::detail::quoted(w.engine) + "; there are " +
                         engine_names("and")};
  if (!engine->embedded()) {
    if (!by.mpi || by.ranks < 2)
      throw called_wrongly{"over MPI each process is a rank: mpirun -n 4 tutti tune --engine mpi"};
    if (w.ranks != 0 && w.ranks != by.ranks)
      throw called_wrongly{fmt::format("--ranks is {}, but mpirun started {} processes", w.ranks, by.ranks)};
    w.ranks = by.ranks;
  } else {
    if (by.mpi && by.ranks > 1)
      throw called_wrongly{"under mpirun the engine is mpi; " + w.engine + " is tuned without mpirun"};
    if (w.ranks == 0) w.ranks = engine->ranks_to_tune != 0 ? engine->ranks_to_tune : default_ranks(*engine);
  }
  if (engine->max_ranks < 2)
    throw called_wrongly{"the engine " + w.engine + " has one rank: there is nothing to choose"};
  if (w.ranks < min_tuned_ranks || w.ranks > max_tuned_ranks) throw wrong_ranks();
}

// Measurements over one MPI are not valid for another. Declares and returns the condition that
// distinguishes them.
literals mpi_condition(const engine_entry& engine, const std::string& module, document& trees) {
  const std::string name = module == "openmpi" ? "open_mpi" : module;
  literals all;
  for (const engine_condition& c : engine.conditions) {
    if (c.name != name) continue;
    document declared_here;
    declared_here.conditions.push_back({std::string(c.name), std::string(c.meaning)});
    trees = overlay(trees, declared_here);
    all.demand(*find_condition(name, trees.conditions), true);
  }
  return all;
}

// Prints a warning at once, but only the first one about something.
void warn(tuned& t, const std::string& about, const std::string& text) {
  if (!text.empty() && t.warnings.emplace(about, text).second)
    fmt::print(stderr, "tutti tune: warning: {}\n", text);
}

// What measurements may change: the trees that an engine starts with, under those of --onto.
struct baseline {
  document trees;
  tuning::rules rules;
};

// `module`: the MPI, if the engine is not embedded. `trees`: the name of the built-in trees.
baseline make_baseline(const tune_options& w, const std::string& module, std::string_view trees,
                       const document& onto) {
  baseline b{overlay(builtin_document(trees), onto), {}};
  // Trees over MPI replace what the MPI's authors have tuned.
  constexpr double gain_over_mpi = 10;
  const bool by_module = !find_engine(w.engine)->embedded();
  b.rules.beat_native = by_module;
  b.rules.gain = (by_module && !w.gain_given ? gain_over_mpi : w.gain) / 100;
  if (by_module) b.rules.always = mpi_condition(*find_engine(w.engine), module, b.trees);
  return b;
}

// Runs a campaign for each number of ranks. `of_trees` makes a baseline from the name of its trees.
// The process of rank 0 receives the results and the name. Returns false if a rank failed.
template <class OfTrees>
bool measure_all(const tune_options& w, OfTrees&& of_trees, const std::vector<int>& numbers, double budget,
                 tuned& t) {
  progress_bar progress;
  const auto start = steady::now();
  const engine_entry& engine = *find_engine(w.engine);
  std::shared_ptr<const baseline> of_all;  // ranks of one process share it
  if (engine.embedded()) of_all = std::make_shared<const baseline>(of_trees(engine.name));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double elapsed = seconds_since(start);
    tuning::campaign_options options =
        campaign_of(w, (budget - elapsed) / static_cast<double>(numbers.size() - i));
    options.guidelines = numbers[i] == w.ranks;
    tuning::campaign_result result;
    bool has_rank_0 = false;  // whether rank 0 is in this process
    const tuning::progress report = [&](const std::string& what, double) {
      progress.show(fmt::format("{} ranks: {}", numbers[i], what),
                    std::min(1.0, seconds_since(start) / budget));
    };
    tuning::measured_protocol protocol;
    const outcome end = tuning::start(engine, numbers[i], 0, nullptr, [&](endpoint& ep) {
      const auto base = of_all ? of_all : std::make_shared<const baseline>(of_trees(ep.trees()));
      tuning::campaign_options its_options = options;
      its_options.grow_rules = base->rules;
      tuning::benchmark_fixture where(ep, std::shared_ptr<const document>(base, &base->trees));
      tuning::job_timer timer(where, ep, options.budget_ms);
      const auto before = timer.protocol();
      if (ep.rank() == 0) warn(t, "oversubscribed", oversubscription_of(before, engine, numbers[i]));
      tuning::campaign_result mine = tuning::run_campaign(timer, base->trees, its_options, report);
      const auto after = timer.protocol();
      if (ep.rank() == 0) {
        result = std::move(mine);
        t.trees = ep.trees();
        protocol = after;
        has_rank_0 = true;
      }
    });
    progress.end();
    if (end.failed_rank >= 0) {
      fmt::print(stderr, "tutti tune: rank {} failed: {}\n", end.failed_rank,
                 tutti::detail::without_prefix(end.text));
      return false;
    }
    if (!has_rank_0) continue;
    warn(t, "load", load_of(protocol, engine));
    t.campaigns.push_back(std::move(result));
    t.protocols.push_back(protocol);
  }
  return true;
}

// Writes the trees to their file or to standard output, and the report to the other stream.
void write_results(const tune_options& w, const tuned& t, const std::filesystem::path& place,
                   const std::string& trees) {
  if (!w.output.empty()) write_atomically(place, trees);
  const std::string report = as_text(t);
  if (w.as_json) {
    fmt::print("{}\n", as_json(t, trees));
  } else if (w.output.empty()) {
    fmt::print(stderr, "{}", report);
    fmt::print("{}", trees);
  } else {
    fmt::print("{}\n{} is written\n", report, place.string());
  }
}

int tune_engine(tune_options w) {
  if (!w.natives.empty()) throw called_wrongly{"--native goes with --machine; without it, tune measures"};
  validate_options(w);
  const double budget = w.budget.empty() ? (w.quick ? 30 : 120) : read_seconds(w.budget);
  if (budget <= 0) throw called_wrongly{"--budget is a time, such as 120s or 2m"};
  const std::filesystem::path place = w.output.empty() ? "" : output_path(w.output, w.engine);
  document onto;
  if (!w.onto.empty()) {
    const read_result got = read_tree(text_of_file(w.onto), w.onto);
    if (!got.good()) throw called_wrongly{got.faults.front().text()};
    onto = got.made;
  }
  const engine_entry& engine = *find_engine(w.engine);
  const bool by_module = !engine.embedded();
  const std::string module = by_module ? setting("TUTTI_MPI").value_or(find_launcher().module) : "";
  const auto of_trees = [&](std::string_view trees) { return make_baseline(w, module, trees, onto); };

  const std::vector<int> numbers =
      by_module || w.only ? std::vector<int>{w.ranks} : numbers_of_ranks(w.ranks, w.quick);
  tuned t;
  t.engine = w.engine;
  const auto start = steady::now();
  if (!measure_all(w, of_trees, numbers, budget, t)) return 1;
  if (t.campaigns.empty()) return 0;  // rank 0 is in another process
  t.seconds = seconds_since(start);

  std::vector<tuning::cell> cells;
  for (const tuning::campaign_result& c : t.campaigns)
    cells.insert(cells.end(), c.compared.begin(), c.compared.end());
  const baseline base = of_trees(t.trees);
  t.result = tuning::grow(base.trees, cells, base.rules);
  t.guideline_ranks = w.ranks;
  t.violations = tuning::violated(t.campaigns.back().natives, base.rules.floor);
  document made = overlay(onto, t.result.made);
  if (const std::string faults = tuning::faults_of(builtin_document(t.trees), made); !faults.empty()) {
    fmt::print(stderr, "tutti tune: the generated trees are invalid and are not written:\n{}", faults);
    return 1;
  }
  made.machine = merged_machine(fingerprint(w, by_module ? mpi_version(module) : "", numbers), onto.machine);
  made.machine["trees"] = t.trees;  // the document states only what differs from them
  // Compositions come first in the list, and they decide.
  for (auto c = t.result.changes.rbegin(); c != t.result.changes.rend(); ++c)
    made.machine[measurement_key(c->what, c->ranks, c->size)] =
        fmt::format("{} {:.2f} us, {} {:.2f} us", tuning::label(c->after), c->after_us,
                    tuning::label(c->before), c->before_us);
  write_results(w, t, place, write_tree(made));
  return std::all_of(t.campaigns.begin(), t.campaigns.end(), [](auto& c) { return c.wrong == 0; }) ? 0 : 1;
}

constexpr const char* help =
    "The trees state only what differs from the built-in ones: choices that are faster beyond the\n"
    "noise, also when they are measured a second time beside what they replace. Over MPI they must also\n"
    "be faster than the collective of the MPI. Set TUTTI_TREES to the file, or copy it to\n"
    "~/.config/tutti/trees.json. The report lists the performance guidelines that the engine's own\n"
    "collectives violate (allreduce <= reduce + bcast ...).\n"
    "With --machine the times are simulated. The trees hold for calls on these numbers of ranks and of\n"
    "ranks per node. The same command with --output goes on where an interrupted run was.\n"
    "Status 0: done; 1: a wrong result, or a rank failed; 2: called wrongly, or the file cannot be "
    "written.\n\n"
    "Examples:\n"
    "  tutti tune --engine fibers --ranks 12 --collectives allreduce,bcast --budget 5m --output trees\n"
    "  mpirun -n 4 tutti tune --engine mpi --budget 3m --onto two.json --output mpi.json\n"
    "  tutti tune --machine fast-cluster-1,fast-cluster-8 --ranks 2..1024 --native mpich --output c.json\n"
    "  tutti tune --quick --json | jq .guidelines\n";

}  // namespace

void add_tune(CLI::App& app, int& status) {
  auto* tune = app.add_subcommand(
      "tune", "Measure which algorithms are fastest here, and write trees that choose them");
  auto w = std::make_shared<tune_options>();
  tune->add_option("--engine", w->engine,
                   engine_names("or") + "; default: " + default_engine() + ", under mpirun mpi");
  tune->add_option(
          "--machine", w->machines,
          "Simulates this machine, of tutti simulate --help or a file, and measures nothing; several "
          "of one network with different numbers of ranks per node give one document")
      ->delimiter(',')
      ->option_text("NAME,...");
  tune->add_option("--native", w->natives,
                   "With --machine: open_mpi or mpich. Choices are faster than the native collectives of "
                   "this MPI, and hold only over it. Default: faster than those of both, over each")
      ->delimiter(',')
      ->option_text("NAME,...");
  tune->add_option("--ranks", w->rank_list,
                   "Number of ranks; engines in one process are also measured with fewer ranks, including "
                   "numbers that are not powers of two. With --machine a range, 2..4096, or a list")
      ->option_text("RANKS");
  tune->add_flag("--only", w->only, "Measure only with this number of ranks");
  tune->add_flag("--quick", w->quick, "Fewer sizes, default parameters, 30 seconds");
  tune->add_option("--collectives", w->collectives, "Collectives to measure; default: all")
      ->delimiter(',')
      ->option_text("NAME,...");
  tune->add_option("--sizes", w->sizes,
                   "Bytes of a block, or of the vector if there are no blocks; default: from 8 to 4M")
      ->delimiter(',')
      ->transform(as_size())
      ->check(CLI::Range(std::size_t{8}, std::size_t{1} << 28))
      ->option_text("BYTES,...");
  tune->add_option("--budget", w->budget, "Total time, such as 120s or 2m; default 120s");
  tune->add_option(
          "--gain", w->gain,
          "Percent by which an algorithm must be faster to replace another; default 5, over MPI 10, with "
          "--machine 15 over native collectives and 0.2 over others")
      ->check(CLI::Range(0.0, 1000.0))
      ->each([w](const std::string&) { w->gain_given = true; })
      ->option_text("PERCENT");
  tune->add_option("--onto", w->onto, "Trees to compare with, which are kept unless an algorithm is faster");
  tune->add_option("--output", w->output,
                   "The file, or the folder for ENGINE.json; default: standard output");
  tune->add_flag("--json", w->as_json, "All figures, the changes and the trees as JSON on standard output");
  tune->footer(help);
  tune->callback([w, &status] { status = w->machines.empty() ? tune_engine(*w) : tune_machines(*w); });
}

}  // namespace tutti::tool

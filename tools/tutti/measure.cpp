// SPDX-License-Identifier: Apache-2.0
//
// tutti measure: measures the machine of a job and writes its file for `tutti simulate`. Reports
// how well simulations of the measured patterns agree with the measurements.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <memory>
#include <string>

#include <fmt/core.h>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "detect_mpi.hpp"
#include "engines/engine_table.hpp"
#include "measure_report.hpp"
#include "output_file.hpp"
#include "progress_bar.hpp"
#include "runtime/launch/make_ranks.hpp"
#include "runtime/launch/modules.hpp"
#include "runtime/launch/startup_error.hpp"
#include "selection/suggestion.hpp"
#include "simulation/read_machine.hpp"
#include "subcommands.hpp"
#include "tuning/machine.hpp"

namespace tutti::tool {
namespace {

using steady = std::chrono::steady_clock;

struct measure_options {
  std::string engine, budget, output, name;
  int ranks = 0;
  bool ranks_given = false;
  bool as_json = false;
};

constexpr int max_measured_ranks = 4096;  // that a node of a machine file can have
constexpr std::size_t max_name_bytes = 1000;

// Returns the budget in seconds. Throws for everything that each process can detect alone.
double validate_options(measure_options& w) {
  const double budget = w.budget.empty() ? 60 : read_seconds(w.budget);
  if (!(budget > 0)) throw called_wrongly{"--budget is a time, such as 60s or 2m"};
  if (w.name.size() > max_name_bytes)
    throw called_wrongly{fmt::format("--name has {} bytes; pass at most {}", w.name.size(), max_name_bytes)};
  if (std::any_of(w.name.begin(), w.name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }))
    throw called_wrongly{"--name has a control character; leave it out"};
  const detail::launcher by = detail::find_launcher();
  if (w.engine.empty()) w.engine = detail::pick_engine("", {.launched = by.mpi}).name;
  const detail::engine_entry* const engine = detail::find_engine(w.engine);
  if (engine == nullptr)
    throw called_wrongly{fmt::format("there is no engine {}; pass mpi or threads", detail::quoted(w.engine))};
  if (!engine->embedded()) {
    if (!by.mpi) throw called_wrongly{"over MPI each process is a rank: mpirun -n 4 tutti measure"};
    if (w.ranks_given && by.ranks != 0 && w.ranks != by.ranks)
      throw called_wrongly{fmt::format("--ranks is {}, but mpirun started {} processes", w.ranks, by.ranks)};
    w.ranks = by.ranks;
    if (by.ranks == 1) throw called_wrongly{"one rank has no messages to measure: mpirun -n 4 tutti measure"};
    return budget;
  }
  if (w.engine != "threads")
    throw called_wrongly{
        fmt::format("ranks of the engine {} take turns on the cores, so their messages are "
                    "not those of a machine; pass --engine threads",
                    w.engine)};
  if (by.mpi && by.ranks != 1)
    throw called_wrongly{"under mpirun the engine is mpi; threads are measured without mpirun"};
  if (!w.ranks_given) w.ranks = detail::default_ranks(*engine);
  if (w.ranks < 2 || w.ranks > max_measured_ranks)
    throw called_wrongly{
        fmt::format("the number of ranks is {}; pass --ranks 2 to {}", w.ranks, max_measured_ranks)};
  return budget;
}

// What only the job knows. Returns the same on all ranks: an empty text if it can be measured.
// Rank 0 alone knows whether it can write the file.
std::string why_not_measured(const measure_options& w, tuning::benchmark_fixture& fixture,
                             detail::endpoint& ep) {
  std::string problem;
  if (ep.size() < 2) problem = "one rank has no messages to measure: mpirun -n 4 tutti measure";
  if (problem.empty()) problem = tuning::why_no_machine(ep);
  if (problem.empty() && ep.size() > max_measured_ranks)
    problem = fmt::format("the job has {} ranks; start at most {}", ep.size(), max_measured_ranks);
  if (problem.empty() && ep.rank() == 0 && !w.output.empty()) try {
      static_cast<void>(output_path(w.output, "machine"));
    } catch (const called_wrongly& e) {
      problem = e.what();
    }
  if (fixture.max(problem.empty() ? 0 : 1) != 0 && problem.empty()) problem = "rank 0 rejects the call";
  return problem;
}

std::string about(const measure_options& w, const tuning::job_shape& job, const std::string& mpi) {
  const std::time_t now = std::time(nullptr);
  char day[16];
  std::strftime(day, sizeof day, "%Y-%m-%d", std::gmtime(&now));
  const std::string ranks = job.nodes() == 1
                                ? fmt::format("{} ranks of one node", job.ranks)
                                : fmt::format("{} nodes of {} rank{}", job.nodes(), job.ranks_per_node,
                                              job.ranks_per_node == 1 ? "" : "s");
  return fmt::format("{}{}, engine {}{}, {}, measured {}", w.name.empty() ? "" : w.name + ": ", ranks,
                     w.engine, mpi.empty() ? "" : " over " + mpi, tuning::processor(), day);
}

// Writes the machine to its file or to standard output, and the report to the other stream.
void write_results(const measure_options& w, const measure_report& r, const std::string& machine) {
  const std::filesystem::path place = w.output.empty() ? "" : output_path(w.output, "machine");
  if (!w.output.empty()) write_atomically(place, machine);
  const std::string report = as_text(r);
  if (w.as_json)
    fmt::print("{}\n", as_json(r, machine));
  else if (w.output.empty()) {
    fmt::print(stderr, "{}", report);
    fmt::print("{}", machine);
  } else {
    fmt::print("{}{} is written\n", report, place.string());
  }
}

int measure_job(const measure_options& w, double budget) {
  progress_bar progress;
  measure_report r;
  std::string problem;
  bool has_rank_0 = false;  // whether rank 0 is in this process
  const auto trees = std::make_shared<const detail::document>(detail::builtin_document(w.engine));
  const auto start = steady::now();
  const detail::outcome end =
      tuning::start(*detail::find_engine(w.engine), w.ranks, 0, nullptr, [&](detail::endpoint& ep) {
        tuning::benchmark_fixture fixture(ep, trees);
        const std::string why = why_not_measured(w, fixture, ep);
        if (ep.rank() == 0) {
          has_rank_0 = true;
          problem = why;
        }
        if (!why.empty()) return;
        const auto warn = [](const tuning::measured_machine& m) {
          const std::string text = oversubscription_of(m);
          if (!text.empty()) fmt::print(stderr, "tutti measure: {}\n", text);
        };
        tuning::measured_machine mine =
            tuning::measure_machine(fixture, ep, budget, warn,
                                    [&](const std::string& what, double part) { progress.show(what, part); });
        if (ep.rank() == 0) r.measured = std::move(mine);
      });
  progress.end();
  if (end.failed_rank >= 0) {
    fmt::print(stderr, "tutti measure: rank {} failed: {}\n", end.failed_rank,
               detail::without_prefix(end.text));
    return 1;
  }
  if (!has_rank_0) return 0;
  if (!problem.empty()) throw called_wrongly{problem};
  r.seconds = std::chrono::duration<double>(steady::now() - start).count();
  r.engine = w.engine;
  if (!detail::find_engine(w.engine)->embedded())
    r.mpi = mpi_version(detail::setting("TUTTI_MPI").value_or(detail::find_launcher().module));
  simulation::machine made = tuning::fit_machine(r.measured.times);
  made.about = r.about = about(w, r.measured.times.job, r.mpi);
  const std::string text = tuning::machine_text(made);
  // The residuals are those of the file, with its rounded values.
  const simulation::machine_result written = simulation::read_machine(text, "the machine file");
  if (!written.good()) throw std::logic_error(written.faults.front().text());
  r.residuals = tuning::residuals_of(r.measured.times, written.made);
  write_results(w, r, text);
  return 0;
}

}  // namespace

void add_measure(CLI::App& app, int& status) {
  auto* measure =
      app.add_subcommand("measure", "Measure the machine of this job, and write its file for tutti simulate");
  auto w = std::make_shared<measure_options>();
  measure->add_option("--output", w->output,
                      "The machine file, or the folder for machine.json; default: standard output");
  measure->add_option("--name", w->name, "A name or description, for \"about\" in the file");
  measure->add_option(
      "--budget", w->budget,
      "Total time, such as 60s or 2m; default 60s. All patterns are measured once in any case");
  measure->add_option("--engine", w->engine, "mpi or threads; default: threads, under mpirun mpi");
  measure->add_option("--ranks", w->ranks, "Number of threads; default: the number of cores")
      ->each([w](const std::string&) { w->ranks_given = true; });
  measure->add_flag("--json", w->as_json,
                    "The machine, all times and their errors as JSON on standard output");
  measure->footer(
      "It measures what the messages of tutti's schedules take: within a node through its shared memory,\n"
      "unless MPI carries them, and between nodes over MPI. Then it simulates the measured patterns, and\n"
      "collectives that the fit does not know, on the fitted machine and prints the errors.\n"
      "docs/guide/scale.md describes the patterns. Start as many ranks as each node has cores, the same\n"
      "number on each node, on at least two nodes.\n"
      "Status 0: measured; 1: a rank failed; 2: called wrongly, or the file cannot be written.\n\n"
      "Examples:\n"
      "  mpirun -n 16 tutti measure --output cluster.json\n"
      "  tutti measure --engine threads --ranks 2 --name laptop --output laptop.json\n"
      "  mpirun -n 4 tutti measure --budget 2m --json | jq .errors\n"
      "  tutti simulate allreduce/ring --machine cluster.json --ranks 16 --bytes 1M\n");
  measure->callback([w, &status] {
    double budget = 0;
    try {
      budget = validate_options(*w);
    } catch (const called_wrongly&) {  // every process of a job finds the same error
      status = 2;
      if (detail::must_report_startup_error()) throw;
      return;
    }
    status = measure_job(*w, budget);
  });
}

}  // namespace tutti::tool

// SPDX-License-Identifier: Apache-2.0
//
// Compares tasks on every engine with those of StarPU-MPI: the jobs of tasks/task_jobs.hpp. The
// embedded engines run in this process. For MPI and StarPU this program starts other programs of
// its folder. The sides take turns in several rounds, so that a disturbance of the machine affects
// all of them.
#include <filesystem>
#include <set>
#include <sstream>

#include <unistd.h>

#include "compare/process.hpp"
#include "progress.hpp"
#include "tasks/task_program.hpp"
#include "tasks/task_sides.hpp"
#include "tasks/tutti_side.hpp"

namespace {

using bench::task_figure;
using bench::task_setup;
using bench::task_side;

struct settings {
  bench::task_settings measure;
  std::vector<std::string> sides{"threads", "openmpi", "mpich", "starpu", "starpu_yielding"};
  int ranks = 0, workers = 0;  // 0: any
  int repeat = 3;
  double timeout_s = 120;
  bool json = false;
};

constexpr const char* examples = R"(
Sides: threads and fibers (tutti in one process), openmpi and mpich (tutti over an MPI), starpu (StarPU-MPI over
Open MPI) and starpu_yielding (the same with mpi_yield_when_idle: it yields its cores while it waits).

Examples:
  tasks                                    everything, three times; minutes
  tasks --sides threads --repeat 1         a first look
  tasks --ranks 1 --workers 2              two workers on one rank
  tasks --sides threads,starpu --json      for scripts)";

std::vector<task_figure> run_here(const task_side& side, const task_setup& on, const settings& s) {
  std::vector<task_figure> figures;
  tutti::run_options o;
  o.engine = side.name;
  o.ranks = on.ranks;
  tutti::run(o, [&](tutti::communicator& world) {
    bench::tutti_side one(world, on.workers);
    auto mine = bench::task_measure<bench::tutti_side>(one, s.measure).all();
    if (world.is_root()) figures = std::move(mine);
  });
  return figures;
}

std::vector<task_figure> run_program(const task_side& side, const task_setup& on, const settings& s) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  bench::environment variables{{"OPENBLAS_NUM_THREADS", "1"}};
  auto words = bench::launcher_command(side.launcher, on.ranks, variables);
  words.insert(words.end(), side.flags.begin(), side.flags.end());
  words.insert(
      words.end(),
      {(folder / side.program).string(), "--json", "--workers", std::to_string(on.workers), "--budget-ms",
       fmt::format("{}", s.measure.budget_ms), "--tiles", std::to_string(s.measure.tiles), "--length",
       std::to_string(s.measure.length), s.measure.cholesky ? "--cholesky" : "--no-cholesky"});
  const auto child = bench::run_child(words, variables, std::chrono::duration<double>(s.timeout_s));
  std::istringstream lines(child.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() != '{') continue;
    const auto record = nlohmann::ordered_json::parse(line);
    if (record.at("ranks").get<int>() == on.ranks)
      return record.at("figures").get<std::vector<task_figure>>();
  }
  throw std::runtime_error(child.timed_out
                               ? fmt::format("ended after {} s", s.timeout_s)
                               : fmt::format("ended with status {}: {}", child.status, child.err));
}

// Finds the sides that can be measured, and reports those that cannot.
std::vector<task_side> available_sides(const settings& s, bench::progress& p) {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  std::vector<task_side> found;
  for (const task_side& side : bench::task_sides()) {
    if (std::find(s.sides.begin(), s.sides.end(), side.name) == s.sides.end()) continue;
    if (!side.program.empty() && access((folder / side.program).c_str(), X_OK) != 0)
      p.report(fmt::format("{} is skipped: the program {} is not in the folder of this one", side.name,
                           side.program));
    else if (!side.launcher.empty() && !bench::in_path(side.launcher))
      p.report(fmt::format("{} is skipped: {} was not found", side.name, side.launcher));
    else
      found.push_back(side);
  }
  return found;
}

bench::task_results measure(const settings& s, bool& good) {
  bench::progress p;
  bench::task_results results;
  const auto sides = available_sides(s, p);
  for (int round = 0; round < s.repeat; ++round)
    for (const task_setup& on : bench::task_setups)
      for (const task_side& side : sides) {
        if ((s.ranks != 0 && on.ranks != s.ranks) || (s.workers != 0 && on.workers != s.workers)) continue;
        const auto what = fmt::format("{}, p = {}, workers = {}", side.title, on.ranks, on.workers);
        p.step(fmt::format("{} (round {} of {})", what, round + 1, s.repeat));
        try {
          results.add(side, on, side.program.empty() ? run_here(side, on, s) : run_program(side, on, s));
        } catch (const std::exception& error) {
          p.report(fmt::format("{}: {}", what, error.what()));
          good = false;
        }
      }
  p.clear();
  return results;
}

}  // namespace

int main(int argc, char** argv) {
  settings s;
  std::vector<std::string> names;
  for (const task_side& side : bench::task_sides()) names.push_back(side.name);
  CLI::App app("Compares tasks on every engine of tutti with those of StarPU-MPI.");
  app.footer(examples);
  bench::add_options(app, s.measure);
  app.add_option("--sides", s.sides, "engines to measure; default: all but fibers")
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->option_text("NAME,...");
  app.add_option("--ranks", s.ranks, "measure only with this number of ranks")->check(CLI::Range(1, 2));
  app.add_option("--workers", s.workers, "measure only with this number of workers on each rank")
      ->check(CLI::Range(1, 2));
  app.add_option("--repeat", s.repeat, "number of rounds, of which the best counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--timeout", s.timeout_s, "seconds after which a program is stopped")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str();
  app.add_flag("--json", s.json, "print JSON");
  CLI11_PARSE(app, argc, argv);
  cholesky::one_thread_each();
  bool good = true;
  const bench::task_results results = measure(s, good);
  if (s.json)
    fmt::print("{}\n", results.json().dump(2));
  else
    results.print();
  return good && !results.empty() ? 0 : 1;
}

// SPDX-License-Identifier: Apache-2.0
//
// Implements run(): starts ranks as options and environment demand, and combines their ends into
// one result.
#include "tutti/run.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <set>
#include <string>
#include <string_view>

#include "base/environment_variables.hpp"
#include "base/forwarded_output.hpp"
#include "base/report_text.hpp"
#include "engines/embedded/embedded_offers.hpp"
#include "engines/embedded/sleep.hpp"
#include "engines/engine_table.hpp"
#include "runtime/launch/make_ranks.hpp"
#include "runtime/launch/modules.hpp"
#include "runtime/launch/rank_startup.hpp"
#include "runtime/launch/startup_error.hpp"
#include "tutti/communicator.hpp"

namespace tutti {

using namespace detail;

namespace {

// The engines that read a variable: "fibers", "fibers or threads".
std::string engines_that_read(std::string_view variable) {
  std::string names;
  for (const engine_entry* e : engines())
    for (const auto& v : e->variables)
      if (v.name == variable) names += (names.empty() ? "" : " or ") + std::string(e->name);
  return names;
}

// Reports settings that have no effect: once a job, on standard error.
void report_ignored_settings(const launcher& by, const engine_entry& engine) {
  if (is_nonzero_process()) return;
  const auto report = [](std::string_view name, const std::string& why) {
    std::fprintf(stderr, "tutti: %s is set, but %s\n", echoed(name).c_str(), why.c_str());
  };
  for (const std::string& name : unknown_settings(all_variables()))
    report(name, "there is no such variable (tutti info lists them)");
  if (const auto ranks = setting("TUTTI_RANKS");
      ranks && !engine.embedded() && *ranks != std::to_string(by.ranks))
    report("TUTTI_RANKS", "the MPI launcher decides how many ranks there are");
  std::set<std::string_view> unused;
  for (const engine_entry* other : engines())
    for (const variable& v : other->variables) unused.insert(v.name);
  for (const variable& v : engine.variables) unused.erase(v.name);
  for (const std::string_view name : unused)
    if (setting(name)) report(name, "the engine is not " + engines_that_read(name));
}

// Fills in `how` from options and variables. Returns the requested number of ranks; 0: the default
// number.
int read_launch(const run_options& options, launch& how) {
  how.seed = options.seed != 0 ? options.seed : number_setting("TUTTI_SEED", 0, ~std::uint64_t{0}, 0);
  if (options.ranks < 0 || options.ranks > 1000000)
    throw usage_error("run", -1, "ranks", "is " + std::to_string(options.ranks), "pass 1 to 1000000 ranks");
  const int requested =
      options.ranks != 0 ? options.ranks : static_cast<int>(number_setting("TUTTI_RANKS", 1, 1000000, 0));
  how.workers =
      options.workers != 0 ? options.workers : static_cast<int>(number_setting("TUTTI_WORKERS", 1, 4096, 0));
  if (how.workers < 0 || how.workers > 4096)
    throw usage_error("run", -1, "workers", "is " + std::to_string(how.workers), "pass 1 to 4096 workers");
  if (options.stack_bytes != 0 && (options.stack_bytes < min_stack || options.stack_bytes > max_stack))
    throw usage_error("run", -1, "stack_bytes", "is " + std::to_string(options.stack_bytes),
                      "pass " + std::to_string(min_stack) + " to " + std::to_string(max_stack) +
                          " bytes; an empty program needs the minimum");
  how.stack_bytes =
      options.stack_bytes != 0 ? options.stack_bytes : number_setting("TUTTI_STACK", min_stack, max_stack, 0);
  how.check = switch_setting("TUTTI_CHECK", false);
  return requested;
}

outcome launch_ranks(const run_options& options, launch how, const rank_program& program) {
  const std::string engine_name =
      !options.engine.empty() ? std::string(options.engine) : setting("TUTTI_ENGINE").value_or("");
  const launcher by = find_launcher();
  int requested = 0;
  // If ranks are processes, all of them report it after MPI has started.
  std::exception_ptr settings_error;
  try {
    requested = read_launch(options, how);
  } catch (const usage_error&) {
    settings_error = std::current_exception();
  }

  const int cores = usable_cores();
  const engine_entry& engine = pick_engine(
      engine_name,
      {.launched = by.mpi, .seed = how.seed, .ranks = requested != 0 ? requested : cores, .cores = cores});
  if (settings_error && (engine.embedded() || !by.mpi)) std::rethrow_exception(settings_error);
  how.ranks = requested != 0 ? requested : default_ranks(engine);

  report_ignored_settings(by, engine);
  if (engine.embedded() && by.mpi && by.ranks != 1 && options.engine.empty())
    throw engine_error("run", -1, "TUTTI_ENGINE",
                       "is " + echoed(engine_name) + ", but an MPI launcher started this program (" +
                           by.variable + " is set): each of its processes would run all ranks",
                       "unset TUTTI_ENGINE, or start the program without the launcher");
  return make_ranks(engine, how, options.argc, options.argv, options.header, [&](endpoint& ep) {
    if (settings_error) std::rethrow_exception(settings_error);
    program(ep);
  });
}

outcome start(const run_options& options, detail::program_view program, const launch& how) {
  rank_startup startup;
  return launch_ranks(options, how, [&](endpoint& ep) { startup.run_rank(ep, program); });
}

}  // namespace

void run(const run_options& options, detail::program_view program) {
  const outcome end = start(options, program, {});
  if (end.failed_rank < 0) return;
  if (end.what) {
    try {
      std::rethrow_exception(end.what);
    } catch (...) {
      std::throw_with_nested(rank_error(end.failed_rank, end.text));
    }
  }
  throw rank_error(end.failed_rank, end.text);
}

int run(const run_options& options, detail::program_view program, std::nothrow_t) {
  bool reported = false;
  const auto report = [&](int rank, const std::string& text) {
    reported = true;
    if (rank < 0)
      std::fprintf(stderr, "%s\n", text.c_str());
    else
      std::fprintf(stderr, "tutti: rank %d failed: %s\n", rank, std::string(without_prefix(text)).c_str());
    std::fflush(stderr);
  };
  launch how;
  how.report = report;
  how.reported_elsewhere = [&] { reported = true; };
  try {
    const outcome end = start(options, program, how);
    if (end.failed_rank < 0) return 0;
    if (end.what && !reported) report(end.failed_rank, end.text);
    return 1;
  } catch (const std::exception& e) {
    if (!reported && must_report_startup_error()) {
      report(-1, e.what());
      if (find_launcher().mpi) wait_until_forwarded();
    }
    return 2;
  }
}

}  // namespace tutti

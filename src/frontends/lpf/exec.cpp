// SPDX-License-Identifier: Apache-2.0
//
// Implements lpf_exec(): a section of new processes. On the embedded engines it is a run of tutti.
// Under a launcher the processes exist already and wait (launched_job.hpp).
#include "frontends/lpf/exec.hpp"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <limits>
#include <string>
#include <vector>

#include "base/environment_variables.hpp"
#include "communicator/internal_calls.hpp"
#include "engines/embedded/sleep.hpp"
#include "engines/engine_table.hpp"
#include "frontends/lpf/launched_job.hpp"
#include "frontends/lpf/program_header.hpp"
#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/section.hpp"
#include "frontends/lpf/start.hpp"
#include "frontends/lpf/thread_group.hpp"
#include "lpf/core.h"
#include "runtime/launch/make_ranks.hpp"
#include "runtime/launch/modules.hpp"
#include "tutti/run.hpp"
#include "tutti/tutti.hpp"

namespace tutti::lpf {

using namespace tutti::detail;

namespace {

constexpr const char* operation_name = "lpf_exec";

// Translates the exception of a run into an error code. If a rank has not begun, it could not be
// made.
lpf_err_t code_of_error(const rank_error& e, const std::vector<std::atomic<bool>>& begun) {
  const int rank = e.failed_rank();
  const bool had_begun = begun[static_cast<std::size_t>(rank)];
  std::string why = e.what();
  try {
    if (had_begun) std::rethrow_if_nested(e);
  } catch (const std::exception& thrown) {
    why = thrown.what();
  } catch (...) {
  }
  report_error(operation_name, rank, "", why,
               had_begun ? "" : "request fewer processes, or use TUTTI_ENGINE=fibers");
  return had_begun ? LPF_ERR_FATAL : LPF_ERR_OUT_OF_MEMORY;
}

// Runs the section on p of the free processes, and divides the free processes among them.
lpf_err_t run_embedded(std::string_view engine, lpf_pid_t p, lpf_spmd_t spmd, const lpf_args_t& args,
                       const process_counts& counts) {
  const process_counts inner_counts{counts.machine, std::max<lpf_pid_t>(1, counts.free / p)};
  run_options options;
  options.header = header_of_program();
  options.engine = engine;
  options.ranks = static_cast<int>(p);
  std::vector<std::atomic<bool>> begun(p);
  std::atomic<lpf_err_t> worst = LPF_SUCCESS;
  try {
    run(options, [&](communicator& world) {
      begun[static_cast<std::size_t>(world.rank())] = true;
      world.barrier();  // if one process cannot be made, none may run the program
      const lpf_err_t code = run_section(world, spmd, world.rank() == 0 ? args : functions_of(args),
                                         inner_counts, operation_name);
      if (code != LPF_SUCCESS) worst = code;
    });
  } catch (const rank_error& e) {
    return code_of_error(e, begun);
  } catch (...) {
    return report_exception(operation_name);
  }
  return worst;
}

// Whether each process of a launcher would make a separate job. For example, TUTTI_ENGINE=threads
// under mpirun -n 3 would make three jobs.
bool makes_separate_jobs(const launcher& by) {
  return by.mpi && (by.ranks != 1 || setting("TUTTI_ENGINE").value_or("mpi") == "mpi");
}

// Reports an error and returns true if each process would make a separate job.
bool reject_separate_jobs(const launcher& by) {
  if (!makes_separate_jobs(by)) return false;
  report_error(
      operation_name, -1, "",
      "an MPI launcher started this program (" + by.variable +
          " is set), but its processes do not take part in this call: each would run its own section",
      start_was_hooked() ? "leave LPF_MPI_AUTO_INITIALIZE as it is and TUTTI_ENGINE unset, or use lpf_hook()"
                         : "link tutti's lpf library to the program itself, not to a library that it loads");
  return true;
}

lpf_pid_t capped(lpf_pid_t p, lpf_pid_t free, std::string_view why) {
  if (p <= free) return p;
  if (p != LPF_MAX_P)
    std::fprintf(stderr,
                 "tutti: %s: %u processes were requested, but %u are free: the section runs on these (%s)\n",
                 operation_name, p, free, std::string(why).c_str());
  return free;
}

lpf_err_t exec_from_root(lpf_pid_t p, lpf_spmd_t spmd, const lpf_args_t& args) {
  const bool in_section = running_section_count() > 0;
  if (launched_job* job = launched_job::current()) {
    const char* const limit =
        in_section ? "the section uses the others" : "the launcher decides the number of processes";
    return job->exec(capped(p, job->free_processes(), limit), spmd, args);
  }
  const launcher by = find_launcher();
  if (in_section && makes_separate_jobs(by)) {
    capped(p, 1, "the section uses the others");
    return thread_group(1, operation_name).hook(0, spmd, args);  // on this thread: it may call MPI
  }
  if (reject_separate_jobs(by)) return LPF_ERR_FATAL;
  const lpf_pid_t free = free_processes();
  return run_embedded({}, capped(p, free, "as TUTTI_RANKS or the number of cores allows"), spmd, args,
                      {free, free});
}

lpf_err_t exec_within(const context& outer, lpf_pid_t p, lpf_spmd_t spmd, const lpf_args_t& args) {
  communicator& world = *outer.world;
  const engine_entry* engine = find_engine(detail::engine_of(detail::impl_of(world)));
  const lpf_pid_t processes = capped(p, outer.counts.free, "the section uses the others");
  if (processes > 1 && engine != nullptr && engine->embedded())
    return run_embedded(engine->name, processes, spmd, args, outer.counts);
  // On this thread, because only one thread may call MPI.
  communicator alone = world.range(world.rank(), world.rank());
  return run_section(alone, spmd, args, outer.counts, operation_name);
}

}  // namespace

lpf_args_t functions_of(const lpf_args_t& args) noexcept {
  return {nullptr, 0, nullptr, 0, args.f_symbols, args.f_size};
}

lpf_pid_t free_processes() {
  if (const launched_job* job = launched_job::current()) return job->free_processes();
  const std::string name = setting("TUTTI_ENGINE").value_or("");
  const engine_entry* engine = find_engine(name);
  if (engine != nullptr && !engine->embedded()) return 1;
  const auto requested = number_setting("TUTTI_RANKS", 1, 1000000, 0);
  const int max_ranks = engine != nullptr ? engine->max_ranks : std::numeric_limits<int>::max();
  if (requested != 0)
    return static_cast<lpf_pid_t>(std::min<std::uint64_t>(requested, static_cast<std::uint64_t>(max_ranks)));
  return static_cast<lpf_pid_t>(engine != nullptr ? default_ranks(*engine) : usable_cores());
}

}  // namespace tutti::lpf

using namespace tutti::lpf;

extern "C" lpf_err_t lpf_exec(lpf_t ctx, lpf_pid_t P, lpf_spmd_t spmd, lpf_args_t args) {
  const char* invalid_argument = ctx == nullptr ? "ctx" : P == 0 ? "P" : spmd == nullptr ? "spmd" : nullptr;
  if (invalid_argument != nullptr) {
    report_error(operation_name, -1, invalid_argument, P == 0 && ctx != nullptr ? "is 0" : "is null",
                 ctx == nullptr ? "pass LPF_ROOT, or the context of the section"
                 : P == 0       ? "request one process or more, or LPF_MAX_P"
                                : "pass the function to run");
    return LPF_ERR_FATAL;
  }
  if (has_null_arguments(args, operation_name, -1)) return LPF_ERR_FATAL;
  try {
    if (ctx == LPF_ROOT) return exec_from_root(P, spmd, args);
    const tutti::lpf::context* const outer = context_of(ctx, operation_name);
    return outer == nullptr ? LPF_ERR_FATAL : exec_within(*outer, P, spmd, args);
  } catch (...) {
    return report_exception(operation_name);
  }
}

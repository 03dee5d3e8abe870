// SPDX-License-Identifier: Apache-2.0
//
// run(): from options and environment to ranks, and from the ranks' ends to one result.
#include "tutti/run.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <mutex>

#include "core/environment.hpp"
#include "engines/embedded/sleep.hpp"
#include "face/core.hpp"
#include "launch/modules.hpp"
#include "tutti/communicator.hpp"

namespace tutti {
namespace {

enum class engine_kind { threads, fibers, mpi };

[[noreturn]] void no_engine(const std::string& name) {
  throw usage_error("run", -1, "TUTTI_ENGINE", "there is no engine \"" + name + "\"",
                    "choose threads, fibers or mpi");
}

std::vector<std::string> names_of(const std::vector<module_file>& modules) {
  std::vector<std::string> names;
  for (const auto& m : modules) names.push_back(m.name);
  return names;
}

std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const auto& w : words) text += (text.empty() ? "" : between) + w;
  return text.empty() ? "none" : text;
}

// The one module that serves. Never a guess: with none or several, an error that says so.
module_file pick_module(const launcher& by, const char* header) {
  const auto there = find_modules(header);
  std::string wanted = by.module;
  if (const auto set = setting("TUTTI_MPI")) wanted = *set;
  if (wanted.empty()) {
    if (there.size() == 1) return there.front();
    if (there.empty())
      throw engine_error(
          "run", -1, "TUTTI_ENGINE",
          "no MPI module is installed (searched: " + joined(module_folders(header), ", ") + ")",
          "install Open MPI or MPICH and build tutti again, or set TUTTI_MODULE_PATH");
    throw engine_error("run", -1, "TUTTI_MPI",
                       "more than one MPI module fits (" + joined(names_of(there), ", ") +
                           ") and the launcher does not tell which",
                       "set TUTTI_MPI to one of them");
  }
  if (!by.module.empty() && by.module != wanted)
    throw engine_error(
        "run", -1, "TUTTI_MPI",
        "is " + wanted + ", but the launcher belongs to " + by.module + " (" + by.evidence + " is set)",
        "use the launcher of the same MPI, or unset TUTTI_MPI");
  for (const auto& m : there)
    if (m.name == wanted) return m;
  throw engine_error(
      "run", -1, by.mpi ? by.evidence : "TUTTI_MPI",
      (by.mpi ? "an MPI launcher of " + wanted + " started this program, but the module " : "the module ") +
          wanted + " is not installed (there: " + joined(names_of(there), ", ") +
          "; searched: " + joined(module_folders(header), ", ") + ")",
      "build tutti where that MPI is installed, or set TUTTI_MODULE_PATH");
}

// What is set and has no effect is said: once a job, on standard error.
void say_what_is_ignored(const launcher& by, engine_kind kind) {
  for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const auto value = setting(rank); by.mpi && value && *value != "0") return;
  const auto say = [](const std::string& name, const char* why) {
    std::fprintf(stderr, "tutti: %s is set, but %s\n", name.c_str(), why);
  };
  for (const std::string& name : unknown_settings())
    say(name, "there is no such variable (tutti info lists them)");
  if (kind == engine_kind::mpi) {
    if (const auto ranks = setting("TUTTI_RANKS"); ranks && *ranks != std::to_string(by.ranks))
      say("TUTTI_RANKS", "the MPI launcher decides how many ranks there are");
  } else if (setting("TUTTI_MPI")) {
    say("TUTTI_MPI", "the engine is not mpi");
  }
  if (kind != engine_kind::fibers)
    for (const char* name : {"TUTTI_SEED", "TUTTI_WORKERS", "TUTTI_STACK"})
      if (setting(name)) say(name, "the engine is not fibers");
}

outcome launch_ranks(const run_options& options, const rank_program& program) {
  launch how;
  const int cores = usable_cores();
  const std::string wish = !options.engine.empty() ? options.engine : setting("TUTTI_ENGINE").value_or("");
  const launcher by = find_launcher();

  how.seed = options.seed != 0 ? options.seed : number_setting("TUTTI_SEED", 0, ~std::uint64_t{0}, 0);
  if (options.ranks < 0 || options.ranks > 1000000)
    throw usage_error("run", -1, "ranks", "is " + std::to_string(options.ranks),
                      "ask for 1 to 1000000 ranks");
  how.ranks =
      options.ranks != 0
          ? options.ranks
          : static_cast<int>(number_setting("TUTTI_RANKS", 1, 1000000, static_cast<std::uint64_t>(cores)));
  how.workers =
      options.workers != 0 ? options.workers : static_cast<int>(number_setting("TUTTI_WORKERS", 1, 4096, 0));
  if (how.workers < 0 || how.workers > 4096)
    throw usage_error("run", -1, "workers", "is " + std::to_string(how.workers), "ask for 1 to 4096 workers");
  how.stack_bytes = options.stack_bytes != 0
                        ? options.stack_bytes
                        : number_setting("TUTTI_STACK", 16 << 10, std::uint64_t{1} << 30, 256 << 10);
  how.check = switch_setting("TUTTI_CHECK", false);

  engine_kind kind;
  if (wish.empty()) {
    kind = by.mpi                               ? engine_kind::mpi
           : how.seed != 0 || how.ranks > cores ? engine_kind::fibers
                                                : engine_kind::threads;
  } else if (wish == "threads") {
    kind = engine_kind::threads;
  } else if (wish == "fibers") {
    kind = engine_kind::fibers;
  } else if (wish == "mpi") {
    kind = engine_kind::mpi;
  } else {
    no_engine(wish);
  }

  say_what_is_ignored(by, kind);
  if (kind == engine_kind::mpi) {
    const engine_module& module = load_module(pick_module(by, options.header));
    return module.run(options.argc, options.argv, how, [&](endpoint& door) {
      if (by.ranks > 0 && door.size() != by.ranks)
        throw engine_error("run", door.rank(), by.evidence,
                           "says that the job has " + std::to_string(by.ranks) +
                               " ranks, but MPI started with " + std::to_string(door.size()),
                           "use the launcher that belongs to " + std::string(module.name));
      program(door);
    });
  }
  if (by.mpi && by.ranks != 1 && options.engine.empty())
    throw engine_error("run", -1, "TUTTI_ENGINE",
                       "is " + wish + ", but an MPI launcher started this program (" + by.evidence +
                           " is set): each of its processes would run all ranks",
                       "unset TUTTI_ENGINE, or start the program without the launcher");
  const int threads = kind == engine_kind::threads ? how.ranks : how.workers > 0 ? how.workers : cores;
  how.pin = switch_setting("TUTTI_PIN", std::min(threads, how.ranks) == cores);
  if (kind == engine_kind::threads && how.ranks > 4096)
    throw usage_error("run", -1, "TUTTI_RANKS", std::to_string(how.ranks) + " threads are too many",
                      "use TUTTI_ENGINE=fibers");
  return kind == engine_kind::threads ? run_threads(how, program) : run_fibers(how, program);
}

outcome start(const run_options& options, const std::function<void(communicator&)>& program) {
  detail::settings set;
  std::array<forced_choice, collective_names.size()> forced;
  // What is wrong with the variables of one process is told when MPI is up: others wait for it there.
  std::exception_ptr wrong;
  try {
    set = detail::read_settings();
    forced = detail::read_forced();
  } catch (...) {
    if (!find_launcher().mpi) throw;
    wrong = std::current_exception();
  }
  std::mutex loading;  // of the trees, by the first rank of this process: it knows the engine
  std::shared_ptr<const selection> by;
  return launch_ranks(options, [&](endpoint& door) {
    if (wrong) std::rethrow_exception(wrong);
    auto shared = std::make_shared<detail::rank_state>();
    shared->door = &door;
    shared->set = set;
    {
      const std::lock_guard lock(loading);
      if (!by) by = std::make_shared<const selection>(selection{detail::load_trees(door.engine()), forced});
    }
    shared->by = by;
    shared->engine_conditions = detail::engine_conditions_of(*by->trees, door, door.rank() == 0);
    shared->begin_trace();
    communicator world(std::make_shared<detail::core>(
        shared, door.open(group::range(0, 1, door.size(), door.rank()), 1, nullptr)));
    if (door.node() == nullptr) world.native().compare_trees();
    program(world);
    if (door.rank() == 0) detail::say_unused_overrides(*shared);
  });
}

}  // namespace

void run(const run_options& options, const std::function<void(communicator&)>& program) {
  const outcome end = start(options, program);
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

int run(const run_options& options, const std::function<void(communicator&)>& program, std::nothrow_t) {
  bool said = false;
  // Over MPI a rank that fails says so at once, since launchers end the job as soon as one process has ended;
  // those that are only taken out of their waits say nothing.
  const auto aloud = [&](communicator& world) {
    const auto say = [&](const char* text) {
      if (world.native().engine() != "mpi") return;
      std::fprintf(stderr, "tutti: rank %d failed: %s\n", world.rank(), text);
      said = true;
    };
    try {
      program(world);
    } catch (const peer_error&) {
      throw;
    } catch (const std::exception& e) {
      say(e.what());
      throw;
    } catch (...) {
      say("an exception that is not a std::exception");
      throw;
    }
  };
  try {
    const outcome end = start(options, aloud);
    if (end.failed_rank < 0) return 0;
    if (end.what && !said)
      std::fprintf(stderr, "tutti: rank %d failed: %s\n", end.failed_rank, end.text.c_str());
    return 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}

}  // namespace tutti

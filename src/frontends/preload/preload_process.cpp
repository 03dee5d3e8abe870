// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/preload_process.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <thread>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "engines/engine_table.hpp"
#include "frontends/preload/imports.hpp"
#include "frontends/preload/pending_calls.hpp"
#include "runtime/settings/active_trees.hpp"
#include "runtime/settings/settings.hpp"
#include "transport/shm/shared_arena.hpp"
#include "tutti/error.hpp"

// Defined by libtutti-heap.so, if the program has loaded it.
extern "C" [[gnu::weak]] tutti::shm::arena_state* tutti_arena_of_heap() noexcept;

namespace tutti::preload {
namespace {

// The long allocations of the program and those of MPI_Alloc_mem lie in the same memory.
void prepare_arena() {
  if (tutti_arena_of_heap != nullptr) shm::shared_arena::use(*tutti_arena_of_heap());
  if (tutti_arena_of_heap != nullptr || is_imported("MPI_Alloc_mem") || is_imported("mpi_alloc_mem"))
    shm::shared_arena::expect();
}

void report_missing_heap() {
  if (tutti_arena_of_heap == nullptr && switch_setting("TUTTI_SHARED_HEAP", false))
    std::fprintf(
        stderr,
        "tutti preload: TUTTI_SHARED_HEAP is 1, but libtutti-heap.so is not loaded; start the program "
        "with tutti preload, or add the library to LD_PRELOAD\n");
}

}  // namespace

// Does what adopt() does, over MPI_COMM_WORLD.
process::process(MPI_Comm self, bool multithreaded_program)
    : multithreaded(multithreaded_program),
      mutex(multithreaded_program),
      self_comm(self),
      handlers(multithreaded_program),
      types(self, multithreaded_program),
      ops(handlers, types, multithreaded_program),
      names(multithreaded_program),
      communicators(handlers, names, multithreaded_program),
      pending(std::make_unique<pending_calls>(*this)) {
  prepare_arena();
  const detail::settings config = detail::read_settings();
  auto made = std::make_unique<mpi::mpi_endpoint>(MPI_COMM_WORLD, config.check);
  ep = made.get();
  by = std::make_shared<const selection>(selection{detail::load_trees(ep->trees()), detail::read_forced()});
  forces_choices = std::any_of(by->forced.begin(), by->forced.end(), [](const detail::forced_choice& one) {
    return !one.algorithm.empty() || !one.inter_algorithm.empty() || !one.composition.empty();
  });
  if (ep->rank() == 0)
    for (const std::string& name : unknown_settings(all_variables()))
      std::fprintf(stderr, "tutti: %s is set, but there is no such variable (tutti info lists them)\n",
                   echoed(name).c_str());
  if (ep->rank() == 0) report_missing_heap();
  engine_conditions = detail::engine_conditions_of(*by->trees, *ep, ep->rank() == 0);
  shared = detail::make_rank_state(std::move(made), config, by, engine_conditions);
  // Without progress inside blocking MPI calls, other ranks may wait for a nonblocking call of a
  // rank that is in such a call. MPI progresses only its own nonblocking calls there.
  serves_nonblocking = switch_setting("TUTTI_PRELOAD_NONBLOCKING", ep->progresses_in_waits());
  stats = statistics::from_environment(ep->rank(), ep->size());
  const auto world = communicators.find_or_add(MPI_COMM_WORLD, *ep);
  world->impl = detail::make_world(shared);
  detail::compare_settings(*world->impl);
  if (!config.check) return;
  types.keep_no_vectors();  // so that MPI finds those that are not committed
  // This library compares calls before it knows who runs them.
  detail::leave_checked_mode(*world->impl);
  comparison = std::make_unique<call_comparison>(*this);
}

process::~process() {
  comparison.reset();
  pending.reset();
  communicators.destroy_all();
}

void process::open(communicator_info& of) {
  if (of.impl) return;
  const auto held = mutex.lock();
  communicators.destroy_freed();
  of.impl = detail::make_group(shared, of.ranks, of.name);
}

void begin_process() {
  int level = MPI_THREAD_SINGLE;
  MPI_Comm self_comm = MPI_COMM_NULL;
  PMPI_Query_thread(&level);
  real<MPI_Comm_dup>(MPI_COMM_SELF, &self_comm);
  real<MPI_Comm_set_errhandler>(self_comm, MPI_ERRORS_RETURN);
  try {
    current_process = new process(self_comm, level == MPI_THREAD_MULTIPLE);
  } catch (const peer_error&) {  // the rank with the error reports it and aborts the job
    std::this_thread::sleep_for(std::chrono::seconds(2));
    PMPI_Abort(MPI_COMM_WORLD, 1);
  } catch (const std::exception& e) {
    // The environment is invalid, or differs between ranks.
    std::fprintf(stderr, "tutti preload: %s\n", std::string(without_prefix(e.what())).c_str());
    std::fflush(stderr);
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }
}

void end_process() {
  process* p = current_process.load();
  if (p == nullptr) return;
  if (p->comparison) p->comparison->finish();
  p->pending->wait_all();
  if (p->stats) p->stats->report();
  current_process = nullptr;
  MPI_Comm self_comm = p->self_comm;
  delete p;
  real<MPI_Comm_free>(&self_comm);
}

}  // namespace tutti::preload

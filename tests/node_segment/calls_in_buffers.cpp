// SPDX-License-Identifier: Apache-2.0
//
// Native collectives whose buffers lie in memory that the other ranks can map: all kinds, roots,
// operators and lengths, in place and not, many at a time. Each rank overwrites its buffers as soon
// as its call returns. The buffers of all ranks, of some or of none lie there.
#include <chrono>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>

#include "many_calls.hpp"

namespace {

using namespace tests;
using namespace tutti::detail;

// Rank 0 makes the call in steps, because it has another one under way; the others make it at once.
void run_beside_another(context& c, context& other) {
  for (const collective what : {collective::bcast, collective::allreduce})
    for (const std::size_t n : {1000u, 1100u, 1500u, 4000u, 4200u}) {
      checked_call<matrix> beside(collective::allgather, 100, 0, 1, false), one(what, n, 1, 2, false);
      native_state state;
      if (here_is.rank == 0) other.native_begin(beside.made, state);
      c.native(one.made, here);
      if (here_is.rank != 0) other.native_begin(beside.made, state);
      other.native_progress(state, true, here);
      one.compare();
      beside.compare();
    }
}

// The root alone has an arena, in a gather or scatter.
void run_with_one_arena(context& c) {
  for (const collective what : {collective::gather, collective::scatter}) {
    test_allocator<word>::in_arena = here_is.rank == 1;
    checked_call<word> one(what, 3000, 1, 4, false);
    c.native(one.made, here);
    one.overwrite();
    one.compare();
  }
}

// The operator of rank 0 throws. No other rank writes to its buffers after that.
void throw_on_rank_0(const void* left, const void* right, void* result, std::size_t n, void* state) {
  if (here_is.rank == 0) throw std::domain_error("no such number");
  combine_elements<word>(left, right, result, n, state);
}
void run_throwing(context& c) {
  test_allocator<word>::in_arena = true;
  auto one = std::make_unique<checked_call<word>>(collective::allreduce, 2000000, 0, 3, false);
  one->made.op.combine = throw_on_rank_0;
  bool has_thrown = false;
  try {
    c.native(one->made, here);
  } catch (const std::domain_error&) {
    has_thrown = true;
  }
  require(has_thrown == (here_is.rank == 0), "the exception is lost, or another rank has it");
  one.reset();
  const std::vector<word, test_allocator<word>> other(6000000, word{5});
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  for (const word w : other) require(w == 5, "another rank has written to memory that was freed");
  for (const std::size_t n : {2u, 5000u}) {  // the communicator still works
    checked_call<word> next(collective::allreduce, n, 0, 4, false);
    c.native(next.made, here);
    next.compare();
  }
}

bool always(unsigned) { return true; }
bool never(unsigned) { return false; }
// Other ranks in each call; in some calls all, in some none.
bool sometimes(unsigned salt) {
  return salt % 5 != 4 && (salt % 5 == 0 || (salt * 7 + static_cast<unsigned>(here_is.rank) * 5) % 3 != 0);
}

void run_all(tutti::mpi::mpi_endpoint& ep, bool (*with_arena)(unsigned)) {
  tutti::mpi::node_memory& memory = ep.memory();
  uses_arena = with_arena;
  static std::uint64_t name = 1;
  const auto usual = ep.open_locally(all_ranks(), {++name, 9});
  std::uint64_t before = memory.calls_in_buffers();
  check_calls<word>(kinds_that_move, {2048, 100000}, [&](const call& made) { usual->native(made, here); });
  check_calls<matrix>(kinds_that_combine, {1024, 100000},
                      [&](const call& made) { usual->native(made, here); });
  const std::uint64_t long_calls = memory.calls_in_buffers() - before;
  memory.set_min_bytes_in_shared_buffers(1);
  const auto one = ep.open_locally(all_ranks(), {++name, 9}),
             other = ep.open_locally(all_ranks(), {++name, 9});
  memory.set_min_bytes_in_shared_buffers(min_bytes_in_shared_buffers);
  before = memory.calls_in_buffers();
  run_blocking(*one);
  run_overlapping(*one, [](unsigned) {});
  run_on_two(*one, *other);
  run_on_two(*other, *one);
  run_beside_another(*usual, *other);
  const std::uint64_t all_calls = memory.calls_in_buffers() - before;
  if (with_arena == never) {
    require(long_calls == 0 && all_calls == 0, "a call has found shared buffers, but there are none");
  } else if (with_arena == always) {
    // All but reduce_scatter_block in place, and the two bcasts of each root.
    require(long_calls >= 40, "only " + std::to_string(long_calls) + " long calls were in shared buffers");
    require(all_calls >= 120, "only " + std::to_string(all_calls) + " calls were in shared buffers");
  } else {
    require(all_calls >= 10, "only " + std::to_string(all_calls) + " calls were in shared buffers");
  }
}

void run_on_all() {
  tutti::shm::shared_arena::expect();
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  require(ep.memory().is_open(), "there is no memory of the node");
  require(ep.memory().shares_buffers() == ep.memory().why_not_buffers().empty(), "the reason is wrong");
  require(ep.memory().shares_buffers(), ep.memory().why_not_buffers());
  run_with_one_arena(*ep.open_locally(all_ranks(), {1000, 9}));
  for (const auto with_arena : {always, sometimes, never}) run_all(ep, with_arena);
  run_throwing(*ep.open_locally(all_ranks(), {1001, 9}));
  ep.end();
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_SHM", "heap", 1);
  tests::run_test(argc, argv, run_on_all);
}

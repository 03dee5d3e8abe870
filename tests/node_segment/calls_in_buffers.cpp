// SPDX-License-Identifier: Apache-2.0
//
// Native collectives whose buffers lie in memory that the other ranks can map: all kinds, roots,
// operators and lengths, in place and not, many at a time. Each rank overwrites its buffers as soon
// as its call returns. The buffers of all ranks, of some or of none lie there.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <mpi.h>

#include "many_calls.hpp"

namespace {

using namespace tests;
using namespace tutti::detail;

void run_blocking(context& c) {
  const auto run = [&](const call& made) { c.native(made, here); };
  check_calls<word>(kinds_that_move, {0, 1, 7, 1025, 8750}, run);
  check_calls<triple>(kinds_that_move, {1, 100000}, run);
  check_calls<matrix>(kinds_that_combine, {0, 1, 3, 130, 4375, 18750}, run);
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
  for (const auto with_arena : {always, sometimes, never}) run_all(ep, with_arena);
  ep.end();
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_SHM", "heap", 1);
  tests::run_test(argc, argv, run_on_all);
}

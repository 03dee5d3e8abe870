// SPDX-License-Identifier: Apache-2.0
//
// The program has closed all files that it does not know, among them that of the memory that others
// can map. The calls do not look for buffers there, and their results are right.
#include <cstdlib>
#include <memory>
#include <vector>

#include <unistd.h>

#include "many_calls.hpp"

namespace {

using namespace tests;

void run_all() {
  shm::shared_arena::expect();
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  require(ep.memory().shares_buffers(), ep.memory().why_not_buffers());
  test_allocator<word>::in_arena = true;
  std::vector<std::unique_ptr<checked_call<word>>> calls;
  for (const collective what : {collective::allreduce, collective::allgather, collective::alltoall})
    calls.push_back(std::make_unique<checked_call<word>>(what, 10000, 0, 1, false));
  test_allocator<word>::in_arena = false;
  if (here_is.rank == 0) close(shm::shared_arena::offer().file);
  const auto c = ep.open_locally(all_ranks(), {1, 9});
  for (const auto& one : calls) {
    c->native(one->made, here);
    one->overwrite();
    one->compare();
  }
  require(ep.memory().calls_in_buffers() == 0, "a call has worked in memory that others cannot map");
  ep.end();
}

}  // namespace

int main(int argc, char** argv) {
  setenv("TUTTI_SHM", "heap", 1);
  tests::run_test(argc, argv, run_all);
}

// SPDX-License-Identifier: Apache-2.0
//
// A job on a kernel without memfds: the ranks of the node share a file in /dev/shm, which has no
// name any more when they use it.
#include <cstdlib>
#include <string>

#include "calls_of_a_program.hpp"

namespace {

using namespace tests;

void run_all() {
  {
    tutti::communicator world = adopt_for_memory();
    tutti::mpi::mpi_endpoint& ep = endpoint_of(world);
    tutti::mpi::node_memory& memory = ep.memory();
    require(memory.kind() == tutti::shm::memory_kind::file,
            std::string("the ranks share another kind of memory: ") + name_of(memory.kind()));
    require(memory.why_not_better() == no_memfd, "the reason is: " + memory.why_not_better());
    require(ep.has_node_memory() && ep.p2p_on_node() != nullptr, "the memory is not in use");
    require(own_files_in_dev_shm().empty(), "there are files:" + own_files_in_dev_shm());
    memory.set_min_bytes_by_address(20'000);
    tutti::communicator c = world.duplicate();
    make_checked_calls(c);
    require(memory.calls_by_address() > 0 || !memory.may_copy(), "no call has gone by address");
  }
  require(own_files_in_dev_shm().empty(), "there are files:" + own_files_in_dev_shm());
}

}  // namespace

int main(int argc, char** argv) {
  if (!tests::lose_memfds()) return tests::skipped;
  setenv("TUTTI_SHM", "copy", 1);
  tests::run_test(argc, argv, run_all);
}

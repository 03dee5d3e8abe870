// SPDX-License-Identifier: Apache-2.0
//
// A job without memfds in a /dev/shm of 1 MiB, which small_dev_shm.sh mounts. The lack of memory is
// an error at the set-up, and no SIGBUS later. A window of MPI would be in /dev/shm too, so the
// ranks share no memory and send messages.
#include <cstdlib>
#include <string>

#include <sys/statvfs.h>

#include "calls_of_a_program.hpp"

namespace {

using namespace tests;
using tutti::shm::memory_kind;

void run_all() {
  struct statvfs of;
  require(statvfs("/dev/shm", &of) == 0 && of.f_blocks * of.f_frsize <= 1 << 20, "/dev/shm is larger");
  {
    tutti::communicator world = adopt_for_memory();
    tutti::mpi::mpi_endpoint& ep = endpoint_of(world);
    tutti::mpi::node_memory& memory = ep.memory();
    const std::string& why = memory.why_not_better();
    constexpr const char* no_space = " rank 0 of the node: posix_fallocate: No space left on device";
    require(why == std::string(no_memfd) + "; /dev/shm:" + no_space + "; MPI window:" + no_space,
            "the reason is: " + why);
    require(memory.kind() == memory_kind::none, "the ranks share memory");
    require(!ep.has_node_memory() && ep.messages_on_node() == nullptr, "messages use memory");
    require(own_files_in_dev_shm().empty(), "there are files:" + own_files_in_dev_shm());
    make_checked_calls(world);
  }
  require(own_files_in_dev_shm().empty(), "there are files:" + own_files_in_dev_shm());
}

}  // namespace

int main(int argc, char** argv) {
  if (!tests::lose_memfds()) return tests::skipped;
  setenv("TUTTI_SHM", "copy", 1);
  // The MPIs themselves need no memory in /dev/shm.
  setenv("OMPI_MCA_btl", "self,tcp", 1);
  setenv("UCX_TLS", "self,sysv", 1);  // of MPICH; its tcp may hang in MPI_Finalize
  tests::run_test(argc, argv, run_all);
}

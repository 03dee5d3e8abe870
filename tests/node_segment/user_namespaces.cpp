// SPDX-License-Identifier: Apache-2.0
//
// The ranks of one node are in different user namespaces, as in containers. The others may not open
// the memfd of the leader, nor read its memory. All ranks agree on a file in /dev/shm and on calls
// in pieces.
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "calls_of_a_program.hpp"

namespace {

using namespace tests;

bool write_text(const char* path, const std::string& text) {
  const int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  return written;
}

// A namespace of this process alone, with the same user.
bool enter_user_namespace() {
  const std::string uid = std::to_string(geteuid()), gid = std::to_string(getegid());
  return unshare(CLONE_NEWUSER) == 0 && write_text("/proc/self/setgroups", "deny") &&
         write_text("/proc/self/uid_map", uid + " " + uid + " 1") &&
         write_text("/proc/self/gid_map", gid + " " + gid + " 1");
}

bool may_enter_user_namespace() {
  const pid_t child = fork();
  if (child == 0) _exit(enter_user_namespace() ? 0 : 1);
  int status = 1;
  waitpid(child, &status, 0);
  return status == 0;
}

int rank_of_launcher() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"})
    if (const char* const value = std::getenv(name)) return std::atoi(value);
  return 0;
}

void run_all() {
  {
    tutti::communicator world = adopt_for_memory();
    tutti::mpi::mpi_endpoint& ep = endpoint_of(world);
    tutti::mpi::node_memory& memory = ep.memory();
    require(memory.kind() == tutti::shm::memory_kind::file,
            std::string("the ranks share another kind of memory: ") + name_of(memory.kind()));
    require(memory.why_not_better().find("memfd: rank 1 of the node: /proc/") == 0,
            "the reason is: " + memory.why_not_better());
    require(!memory.may_copy(), "the ranks may read the memory of each other");
    require(memory.why_not_copy().find("rank 1 of the node may not read the memory of rank 0") == 0,
            "the reason is: " + memory.why_not_copy());
    require(ep.has_node_memory() && ep.p2p_on_node() != nullptr, "the memory is not in use");
    memory.set_min_bytes_by_address(1);
    tutti::communicator c = world.duplicate();
    make_checked_calls(c);
    require(memory.calls_by_address() == 0, "a call has gone by address");
    for (int r = 0; r < here_is.size; ++r)
      require(memory.segment().peer_is_alive(r), "rank " + std::to_string(r) + " is taken for dead");
  }
  require(own_files_in_dev_shm().empty(), "there are files:" + own_files_in_dev_shm());
}

}  // namespace

int main(int argc, char** argv) {
  if (!may_enter_user_namespace()) {
    std::printf("refused: no user namespace\n");
    return tests::skipped;
  }
  if (rank_of_launcher() % 2 == 1 && !enter_user_namespace()) return 1;
  // The MPIs would open each other's files in /proc and read each other's memory, and fail.
  setenv("UCX_TLS", "self,sysv", 1);  // of MPICH; its tcp may hang in MPI_Finalize
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 1);
  setenv("TUTTI_SHM", "copy", 1);
  tests::run_test(argc, argv, run_all);
}

// SPDX-License-Identifier: Apache-2.0
//
// Bound ranks form levels of the topology below the node. hwloc describes a machine of two sockets,
// which have one of the first two CPUs each.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <mpi.h>
#include <sched.h>

#include "mpi_program.hpp"
#include "tutti/mpi.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tests;

// Returns on all ranks whether all could do it. Each rank binds itself to these CPUs.
bool bind(int first, int last) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  for (int cpu = first; cpu <= last; ++cpu) CPU_SET(cpu, &cpus);
  int bound = sched_setaffinity(0, sizeof cpus, &cpus) == 0 ? 1 : 0;
  cpu_set_t now;
  CPU_ZERO(&now);
  if (sched_getaffinity(0, sizeof now, &now) != 0 || !CPU_EQUAL(&now, &cpus)) bound = 0;
  MPI_Allreduce(MPI_IN_PLACE, &bound, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return bound == 1;
}

int socket_of(int rank) { return rank * 2 / here_is.size; }

void require_levels(bool has_inner, const std::string& when) {
  tutti::mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
  const tutti::detail::hierarchy& found = ep.topology();
  const int node_level = has_inner ? 1 : 0;
  require(found.levels() == node_level + 1 && ep.node_level() == node_level,
          when + ": there are " + std::to_string(found.levels()) + " levels");
  require(found.nodes(node_level) == 1, when + ": there are several nodes");
  for (int r = 0; has_inner && r < here_is.size; ++r)
    require(found.node_of(r) == socket_of(r), when + ": rank " + std::to_string(r) + " is in a wrong group");
  require(condition_of(ep, "node_memory") == (std::getenv("TUTTI_NODES") == nullptr),
          when + ": the levels change the use of memory");
  ep.end();
}

// The public interface: the node is the same, and compositions use the levels.
void require_communicators() {
  using namespace tutti;
  communicator world = adopt(MPI_COMM_WORLD);
  require(world.split_to_shared_memory().size() == here_is.size, "the node lacks ranks");
  const std::vector<int> mine(1000, here_is.rank + 1);
  std::vector<int> sum(mine.size());
  world.allreduce(send_buf(mine), recv_buf(sum), op(std::plus<>{}), composition("node_leader"));
  const int expected = here_is.size * (here_is.size + 1) / 2;
  require(std::all_of(sum.begin(), sum.end(), [&](int one) { return one == expected; }), "the sum is wrong");
  require(std::string(world.last_algorithm(collective::allreduce)) == "allreduce/node_leader",
          "the composition has not run");
}

void run_all() {
  setenv("HWLOC_SYNTHETIC", "pack:2 l3:1 core:1 pu:1", 1);
  if (!bind(0, 1)) {
    if (here_is.rank == 0) std::printf("not tested: this process may not use CPUs 0 and 1\n");
    return;
  }
  require_levels(false, "not bound");
  const bool enough = here_is.size >= 4;
  require(bind(socket_of(here_is.rank), socket_of(here_is.rank)), "a rank cannot be bound to one CPU");
  require_levels(enough, "bound");
  require_communicators();
  if (here_is.rank == here_is.size - 1) setenv("TUTTI_NODE_LEVELS", "0", 1);
  require_levels(false, "TUTTI_NODE_LEVELS=0 on one rank");
  unsetenv("TUTTI_NODE_LEVELS");
  setenv("TUTTI_NODES", ("1x" + std::to_string(here_is.size)).c_str(), 1);
  require_levels(false, "TUTTI_NODES is set");
}

}  // namespace

int main(int argc, char** argv) { tests::run_test(argc, argv, run_all); }

// SPDX-License-Identifier: Apache-2.0
//
// A job of two nodes, which this program simulates. It makes MPI report that ranks 0 and 1 share
// memory, and that all other ranks share other memory. Messages of one group use the memory of a
// node and MPI at the same time, in schedules and in the program's messages. The program counts the
// sends of MPI. There must be none between ranks of a node.
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>
#include <sched.h>

#include "checked_messages.hpp"
#include "counted_sends.hpp"

extern "C" int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  if (type != MPI_COMM_TYPE_SHARED) return PMPI_Comm_split_type(comm, type, key, info, made);
  int rank = 0;
  PMPI_Comm_rank(comm, &rank);
  return PMPI_Comm_split(comm, rank < 2 ? 0 : 1, key, made);
}

namespace {

using namespace tests;
using namespace tutti;

const std::size_t all_lengths[] = {0, 1, 48, 49, 2048, 2049, 8192, 8193, 70'000, 1'000'000};

// `one`, `other`: ranks of the job.
bool share_a_node(int one, int other) { return (one < 2) == (other < 2); }

// The ranks of a node share a core, so that tutti yields the core in a wait.
void share_a_core() {
  cpu_set_t all, one;
  CPU_ZERO(&all);
  CPU_ZERO(&one);
  sched_getaffinity(0, sizeof all, &all);
  int skipped_cores = here_is.rank < 2 || CPU_COUNT(&all) < 2 ? 0 : 1;
  int core = 0;
  while (!CPU_ISSET(core, &all) || skipped_cores-- > 0) ++core;
  CPU_SET(core, &one);
  sched_setaffinity(0, sizeof one, &one);
}

// The sends of MPI for a message of a group to another node: a header, and the contents if they are
// long or the send is synchronous (engines/mpi/group_messages.hpp).
int sends_for(std::size_t n, send_modes mode) { return n <= 2048 && mode != send_modes::synchronous ? 1 : 2; }

// The job's rank of a member of the group that has the reverse order.
int job_rank(bool reversed, int member) { return reversed ? here_is.size - 1 - member : member; }

// All pairs of members.
void messages_of_schedules(mpi::mpi_endpoint& ep, bool reversed) {
  const int p = here_is.size;
  const auto c = ep.open_locally(
      reversed ? detail::group::range(p - 1, -1, p, p - 1 - here_is.rank) : all_ranks(), {reversed, 3});
  const int me = c->members().rank();
  for (const std::size_t n : all_lengths) {
    MPI_Barrier(MPI_COMM_WORLD);
    sends_of_mpi = 0;
    const auto others = static_cast<std::size_t>(p - 1);
    std::vector<detail::transfer> sent(others), received(others);
    std::vector<bytes> out, in(others, bytes(n));
    int expected = 0;
    for (int d = 1; d < p; ++d) {
      const auto i = static_cast<std::size_t>(d - 1);
      const int to = (me + d) % p, from = (me + p - d) % p;
      out.push_back(contents(me, to, 0, n));
      c->irecv(from, 7, in[i].data(), n, received[i]);
      c->isend(to, 7, out[i].data(), n, sent[i]);
      if (!share_a_node(here_is.rank, job_rank(reversed, to))) expected += sends_for(n, send_modes::standard);
    }
    for (int d = 1; d < p; ++d) {
      const auto i = static_cast<std::size_t>(d - 1);
      while (!c->done(received[i], here)) ep.pause(here);
      while (!c->done(sent[i], here)) ep.pause(here);
      require(in[i] == contents((me + p - d) % p, me, 0, n), "a message is not intact");
    }
    require_sends_of_mpi(expected, "messages of " + std::to_string(n) + " bytes");
  }
}

// Receives from any source find messages that use MPI and messages that do not. Those of one sender
// keep their order.
void messages_of_the_program(communicator& c, bool reversed) {
  const int p = c.size();
  for (const std::size_t n : all_lengths)
    for (const send_modes mode : all_modes) {
      c.barrier();
      sends_of_mpi = 0;
      int expected = 0;
      sends s;
      for (int tag = 0; tag < 10; ++tag)
        for (int d = 1; d < p; ++d) {
          const int to = (c.rank() + d) % p;
          s.start(c, to, tag, n, mode);
          if (!share_a_node(here_is.rank, job_rank(reversed, to))) expected += sends_for(n, mode);
        }
      std::vector<int> next(static_cast<std::size_t>(p));
      for (int i = 0; i < 10 * (p - 1); ++i) {
        detail::envelope found;
        require(detail::probe(detail::impl_of(c), "probe", rank::any, tags::any, true, found),
                "nothing is there");
        require(found.tag == next[static_cast<std::size_t>(found.source)]++, "the order of a sender differs");
        receive(c, rank::any, tags::any, found.source, found.tag, n);
      }
      s.wait();
      require_sends_of_mpi(expected, "messages of the program of " + std::to_string(n) + " bytes");
    }
}

// Each rank sends to its right neighbor only, in memory or through MPI.
void schedules(const communicator& c, bool reversed) {
  const int p = c.size();
  for (const std::size_t n : {0, 1, 500, 30'000}) {
    sends_of_mpi = 0;
    const auto all = c.allgather(send_buf(std::vector<int>(n, c.rank())), algorithm("allgather/ring"));
    require(all.size() == n * static_cast<std::size_t>(p), "an allgather has another length");
    for (std::size_t i = 0; i < all.size(); ++i)
      require(all[i] == static_cast<int>(i / n), "an allgather is wrong");
    if (n != 0 && share_a_node(here_is.rank, job_rank(reversed, right(c))))
      require_sends_of_mpi(0, "an allgather to a rank of the node");
    else if (n != 0)
      require(sends_of_mpi >= p - 1, "an allgather to another node has sent nothing through MPI");
  }
  for (const std::size_t n : {1, 5000}) {
    const std::vector<int> mine(n, c.rank());
    for (const char* const name : {"allreduce/recursive_doubling", "allreduce/rabenseifner"})
      for (const int one : c.allreduce(send_buf(mine), op(std::plus<>{}), algorithm(name)))
        require(one == p * (p - 1) / 2, "a sum is wrong");
  }
}

// Each node has groups with numbers of its own table. Calls of the whole job alternate with theirs.
void groups_of_each_node(communicator& world) {
  const int p = world.size();
  const bool first = here_is.rank < 2;
  for (int i = 0; i < 100; ++i) {
    const communicator node = first ? world.range(0, 1) : world.range(2, p - 1);
    sends_of_mpi = 0;
    const auto all =
        node.allgather(send_buf(std::vector<int>{here_is.rank + i}), algorithm("allgather/bruck"));
    for (int r = 0; r < node.size(); ++r)
      require(all[static_cast<std::size_t>(r)] == r + i + (first ? 0 : 2), "an allgather of a node is wrong");
    require_sends_of_mpi(0, "an allgather of a node");
    if (i % 10 == 0) schedules(world.range(0, p - 1), false);
  }
}

void run_all() {
  share_a_core();
  {
    mpi::mpi_endpoint ep(MPI_COMM_WORLD, false);
    const bool is_alone = here_is.size == 1 || (here_is.size == 3 && here_is.rank == 2);
    require(is_alone || ep.messages_on_node() != nullptr, "a node has no memory");
    for (int r = 0; r < here_is.size; ++r)
      require((ep.rank_on_node(r) >= 0) == (r != here_is.rank && share_a_node(r, here_is.rank)),
              "rank " + std::to_string(r) + " is on another node");
    for (const bool reversed : {false, true}) messages_of_schedules(ep, reversed);
    ep.end();
  }
  communicator world = adopt_for_memory();
  for (const bool reversed : {false, true}) {
    communicator c = reversed ? world.range(world.size() - 1, 0, -1) : world.range(0, world.size() - 1);
    c.barrier();
    messages_of_the_program(c, reversed);
    schedules(c, reversed);
  }
  groups_of_each_node(world);
}

}  // namespace

int main(int argc, char** argv) { tests::run_test(argc, argv, run_all); }

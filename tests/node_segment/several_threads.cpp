// SPDX-License-Identifier: Apache-2.0
//
// With MPI_THREAD_MULTIPLE no rank uses the memory of the node, because two threads of a rank
// cannot sleep on its one wakeup word. Several threads of each rank make calls and send messages at
// the same time, each on a communicator of its own, and all results are right.
#include <cstddef>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "memory_world.hpp"

namespace {

using namespace tests;
using namespace tutti;

constexpr int thread_count = 3;

void require_no_memory(communicator& c) {
  tutti::mpi::mpi_endpoint& ep = endpoint_of(c);
  ep.leave_p2p_to_mpi(false);
  require(!ep.memory().is_open() && !ep.has_node_memory(), "the memory of the node is in use");
  require(ep.messages_on_node() == nullptr && ep.p2p_on_node() == nullptr, "messages use memory");
  const std::string reason = ep.transports().front();
  require(reason.find("MPI_THREAD_MULTIPLE") != std::string::npos, "the reason is missing: " + reason);
}

void make_calls(communicator& c, int thread, std::size_t n, const char* algorithms) {
  const int p = c.size(), me = c.rank(), right = (me + 1) % p, left = (me + p - 1) % p;
  const std::vector<int> mine(n, me + thread);
  std::vector<int> sum(n), spread(n, me == 0 ? thread : -1), got(n, -1), later(n);
  auto sent = c.isend(send_buf(mine), destination(right), tag(thread));
  c.allreduce(send_buf(mine), recv_buf(sum), op(std::plus<>{}), algorithm(algorithms));
  auto pending = c.iallreduce(send_buf(mine), recv_buf(later), op(std::plus<>{}), algorithm(algorithms));
  c.bcast(send_recv_buf(spread), root(0));
  c.recv(recv_buf(got), source(left), tag(thread));
  c.barrier();
  pending.wait();
  sent.wait();
  const std::vector<int> expected(n, p * (p - 1) / 2 + p * thread);
  require(sum == expected && later == expected, "an allreduce is wrong");
  require(spread == std::vector<int>(n, thread), "a bcast is wrong");
  require(got == std::vector<int>(n, left + thread), "a message is wrong");
}

void run_thread(MPI_Comm comm, int thread) {
  communicator c = adopt(comm);
  require_no_memory(c);
  for (const std::size_t n : {1, 3000, 100'000})
    for (const char* const name : {"native", "allreduce/ring"})
      for (int i = 0; i < (here_is.size == 2 ? 10 : 1); ++i) make_calls(c, thread, n, name);
}

void run_all() {
  std::vector<MPI_Comm> comms(thread_count);
  for (MPI_Comm& one : comms) MPI_Comm_dup(MPI_COMM_WORLD, &one);
  std::vector<std::thread> threads;
  for (int t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      try {
        run_thread(comms[static_cast<std::size_t>(t)], t);
      } catch (const std::exception& e) {
        // The other ranks wait for this thread.
        std::fprintf(stderr, "FAILED thread %d: %s\n", t, e.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    });
  for (std::thread& one : threads) one.join();
  for (MPI_Comm& one : comms) MPI_Comm_free(&one);
}

}  // namespace

int main(int argc, char** argv) {
  int level = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
  if (level != MPI_THREAD_MULTIPLE) {
    std::printf("this MPI has no MPI_THREAD_MULTIPLE\n");
    MPI_Finalize();
    return tests::skipped;
  }
  return tests::run_started_test(run_all);
}

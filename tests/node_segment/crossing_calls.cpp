// SPDX-License-Identifier: Apache-2.0
//
// Sends, collectives and receives that cross: some ranks receive before a collective in which the
// others already wait, with their sends pending. The messages are those of tutti, in memory, or
// those of the program, through MPI.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <mpi.h>

#include "memory_world.hpp"

namespace {
int sends_of_mpi = 0, collectives_of_mpi = 0;
}

extern "C" int MPI_Isend(const void* a, int n, MPI_Datatype t, int to, int tag, MPI_Comm c, MPI_Request* r) {
  ++sends_of_mpi;
  return PMPI_Isend(a, n, t, to, tag, c, r);
}
extern "C" int MPI_Allreduce(const void* a, void* b, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c) {
  ++collectives_of_mpi;
  return PMPI_Allreduce(a, b, n, t, o, c);
}
extern "C" int MPI_Ibcast(void* a, int n, MPI_Datatype t, int root, MPI_Comm c, MPI_Request* r) {
  ++collectives_of_mpi;
  return PMPI_Ibcast(a, n, t, root, c, r);
}

namespace {

using namespace tests;
using namespace tutti;

int right() { return (here_is.rank + 1) % here_is.size; }
int left() { return (here_is.rank + here_is.size - 1) % here_is.size; }

// Which ranks receive before the collectives.
enum class order { none, even, all };

struct crossing {
  communicator& c;
  std::size_t n;
  order receives_first;
  const char* algorithms;

  // `send` begins a send and returns a function that waits for it.
  template <class Send, class Receive>
  void run(const Send& send, const Receive& receive) const {
    const bool first =
        receives_first == order::all || (receives_first == order::even && here_is.rank % 2 == 0);
    const std::vector<int> mine(n, here_is.rank);
    std::vector<int> sum(n), got(n, -1), spread(n, here_is.rank == here_is.size - 1 ? 7 : 0);
    auto wait_for_send = send(mine);
    if (first) receive(got);
    c.allreduce(send_buf(mine), recv_buf(sum), op(std::plus<>{}), algorithm(algorithms));
    auto pending = c.ibcast(send_recv_buf(spread), root(here_is.size - 1));
    if (!first) receive(got);
    pending.wait();
    wait_for_send();
    const int all = here_is.size * (here_is.size - 1) / 2;
    require(sum == std::vector<int>(n, all), "an allreduce is wrong");
    require(spread == std::vector<int>(n, 7), "an ibcast is wrong");
    require(got == std::vector<int>(n, left()), "a message is wrong");
  }
};

void with_messages_of_tutti(const crossing& of) {
  of.run(
      [&](const std::vector<int>& data) {
        return [sent = std::make_shared<decltype(of.c.isend(send_buf(data), destination(0)))>(
                    of.c.isend(send_buf(data), destination(right()), tag(3)))] { sent->wait(); };
      },
      [&](std::vector<int>& into) { of.c.recv(recv_buf(into), source(left()), tag(3)); });
}

void with_messages_of_mpi(const crossing& of) {
  of.run(
      [](const std::vector<int>& data) {
        MPI_Request r;
        MPI_Isend(data.data(), static_cast<int>(data.size()), MPI_INT, right(), 3, MPI_COMM_WORLD, &r);
        return [r]() mutable { MPI_Wait(&r, MPI_STATUS_IGNORE); };
      },
      [](std::vector<int>& into) {
        MPI_Recv(into.data(), static_cast<int>(into.size()), MPI_INT, left(), 3, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
      });
}

// Short, in slots, and long, by address and in rendezvous.
template <class Run>
void in_all_ways(communicator& c, const Run& run) {
  const bool has_cores = here_is.size == 2;  // ranks of an MPI may hold a shared core long
  const int repetitions = has_cores ? 3 : 1;
  for (const std::size_t n : {2, 1000, 200'000})
    for (const order first : {order::none, order::even, order::all}) {
      if (n == 1000 && !has_cores) continue;
      for (const char* const name : {"native", "allreduce/ring"})
        for (int i = 0; i < repetitions; ++i) run(crossing{c, n, first, name});
    }
}

void run_all() {
  {
    communicator world = adopt_for_memory();
    require(endpoint_of(world).p2p_on_node() != nullptr, "messages do not use memory");
    sends_of_mpi = collectives_of_mpi = 0;
    in_all_ways(world, with_messages_of_tutti);
    require(sends_of_mpi == 0, "MPI has sent " + std::to_string(sends_of_mpi) + " messages");
  }
  communicator world = adopt(MPI_COMM_WORLD);
  require(endpoint_of(world).p2p_on_node() == nullptr, "messages of an adopted program do not use MPI");
  require(endpoint_of(world).messages_on_node() != nullptr, "there is no memory of the node");
  sends_of_mpi = collectives_of_mpi = 0;
  in_all_ways(world, with_messages_of_tutti);
  in_all_ways(world, with_messages_of_mpi);
  require(sends_of_mpi > 0 && collectives_of_mpi == 0, "MPI has run a collective");
}

}  // namespace

int main(int argc, char** argv) { tests::run_test(argc, argv, run_all); }

// SPDX-License-Identifier: Apache-2.0
//
// Tests receives that an exception unwinds while their message is being transferred. When their
// objects are gone, MPI must not write to their buffers. The sender computes meanwhile, so the
// transfer outlasts the time for which such a destructor polls.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <unistd.h>

#include "support/check.hpp"
#include "tutti/mpi.hpp"

using tests::check;
using namespace tutti;

namespace {

constexpr std::size_t bytes = 8 << 20;
constexpr char sent = 1, own = 7;

void barrier() { MPI_Barrier(MPI_COMM_WORLD); }

void send_slowly(const communicator& comm, bool receive_first) {
  const std::vector<char> data(bytes, sent);
  if (receive_first) barrier();  // the receive has begun
  auto sending = comm.isend(send_buf(data), destination(0));
  barrier();  // the message is on its way
  usleep(1'500'000);  // without progress
  barrier();
  sending.wait();
  barrier();
}

void unwind_receive(const communicator& comm, bool receive_first) {
  std::vector<char> into(bytes);
  if (!receive_first) barrier();
  try {
    auto receiving = comm.irecv(recv_buf(into), source(1));
    if (receive_first) barrier(), barrier();
    throw std::runtime_error("planted fault");
  } catch (const std::runtime_error&) {
  }
  std::fill(into.begin(), into.end(), own);
  barrier();
  // If no message had matched the receive, it was cancelled, and the message is still there.
  while (comm.try_recv<char>(source(1))) {
  }
  barrier();
  check.equal(std::count(into.begin(), into.end(), own), static_cast<std::ptrdiff_t>(bytes));
}

void test(const communicator& comm) {
  for (const bool receive_first : {true, false}) {
    if (comm.rank() == 0) {
      unwind_receive(comm, receive_first);
    } else if (comm.rank() == 1) {
      send_slowly(comm, receive_first);
    } else {
      for (int i = 0; i < 3; ++i) barrier();
      if (receive_first) barrier();
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  // Otherwise the receiver copies from the memory of the sender, and the transfer is short.
  setenv("OMPI_MCA_btl_vader_single_copy_mechanism", "none", 0);
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    if (size > 1) {
      const communicator world = adopt(MPI_COMM_WORLD);
      test(world);
      test(adopt(MPI_COMM_WORLD, messages_on::original));
      test(world.range(0, size - 1));  // a group that was made without a message
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rank %d: %s\n", rank, e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}

// SPDX-License-Identifier: Apache-2.0
//
// Tests a send that an exception unwinds before the receiver calls MPI_Recv. When the object of the
// send is gone, MPI must not read its buffer, which the sender then overwrites.
#include <algorithm>
#include <cstdio>
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

void unwind_send(const communicator& comm) {
  std::vector<char> data(bytes, sent);
  try {
    auto sending = comm.isend(send_buf(data), destination(0), tag(5));
    throw std::runtime_error("planted fault");
  } catch (const std::runtime_error&) {
  }
  std::fill(data.begin(), data.end(), own);
}

// Later than a destructor polls, and sooner than it ends the job.
void receive_late() {
  std::vector<char> into(bytes);
  usleep(400'000);
  MPI_Recv(into.data(), static_cast<int>(bytes), MPI_BYTE, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  check.equal(std::count(into.begin(), into.end(), sent), static_cast<std::ptrdiff_t>(bytes));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  try {
    if (size > 1) {
      const communicator world = adopt(MPI_COMM_WORLD, messages_on::original);
      if (rank == 1) unwind_send(world);
      if (rank == 0) receive_late();
      MPI_Barrier(MPI_COMM_WORLD);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "rank %d: %s\n", rank, e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}

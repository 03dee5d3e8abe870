// SPDX-License-Identifier: Apache-2.0
//
// A program that starts MPI itself. An exception unwinds an MPI collective, which the other ranks
// do not call. The job ends before the program catches the exception, because MPI cannot cancel the
// collective and still uses its buffer.
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <mpi.h>

#include "tutti/mpi.hpp"

int main(int argc, char** argv) {
  using namespace tutti;
  MPI_Init(&argc, &argv);
  const communicator world = adopt(MPI_COMM_WORLD);
  try {
    std::vector<int> v(100'000, 1);
    if (world.rank() == 1) {
      auto pending = world.iallreduce(send_recv_buf(v), op(std::plus<>{}), algorithm("native"));
      throw std::runtime_error("planted fault");
    }
  } catch (const std::runtime_error&) {
    std::fprintf(stderr, "FAILED: rank 1 goes on\n");
    std::fflush(nullptr);
    std::_Exit(3);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}

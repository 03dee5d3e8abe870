// SPDX-License-Identifier: Apache-2.0
//
// adopted_waits CASE: a program that starts MPI itself and adopts it.
//
// - twice: one rank makes the others wait in a native MPI collective on the second of two
//   communicators. Each communicator watches its waits, and each waiting rank reports once.
// - refused: one rank has an invalid TUTTI_DEADLOCK_AFTER. All ranks throw, and the errors name
//   that rank.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include <mpi.h>

#include "tutti/mpi.hpp"
#include "tutti/tutti.hpp"

namespace {

using namespace tutti;

bool twice() {
  communicator first = adopt(MPI_COMM_WORLD), second = adopt(MPI_COMM_WORLD);
  std::vector<double> v(3), sum(3);
  constexpr std::plus<> plus{};
  // Short waits on the first communicator that together last as long as one long wait: they are not
  // reported.
  for (int i = 0; i < 40; ++i) {
    if (first.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(100));
    first.allreduce(send_buf(v), recv_buf(sum), op(plus), algorithm("native"));
  }
  for (int i = 0; i < 3; ++i) {
    if (i == 2 && first.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(9));
    second.allreduce(send_buf(v), recv_buf(sum), op(plus), algorithm("native"));  // PLACE twice
  }
  return true;
}

bool refused(int rank) {
  if (rank == 1)
    setenv("TUTTI_DEADLOCK_AFTER", "soon", 1);
  else
    unsetenv("TUTTI_DEADLOCK_AFTER");
  std::string message = "nothing";
  try {
    communicator world = adopt(MPI_COMM_WORLD);
  } catch (const error& e) {  // usage_error on the rank itself, peer_error on the others
    message = e.what();
  }
  const bool well = message.find("TUTTI_DEADLOCK_AFTER") != std::string::npos &&
                    (rank == 1 || message.find("rank 1 rejected") != std::string::npos);
  if (!well) std::fprintf(stderr, "FAILED: rank %d: %s\n", rank, message.c_str());
  return well;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const bool well = name == "twice" ? twice() : name == "refused" && refused(rank);
  MPI_Finalize();
  return well ? 0 : 1;
}

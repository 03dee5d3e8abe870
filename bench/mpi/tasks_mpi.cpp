// SPDX-License-Identifier: Apache-2.0
//
// Runs the jobs of tasks/task_jobs.hpp with tutti's tasks over an MPI, and a ping-pong of the same
// MPI without tasks: `mpirun -n 2 tasks_openmpi`.
#include <string>

#include <tutti/mpi.hpp>

#include "tasks/task_program.hpp"
#include "tasks/tutti_side.hpp"

namespace {

class mpi_side : public bench::tutti_side {
 public:
  using bench::tutti_side::tutti_side;

  void native_round_trip() {
    unsigned value = 0;
    const int peer = 1 - rank();
    if (peer == 1) MPI_Send(&value, 1, MPI_UNSIGNED, peer, 0, MPI_COMM_WORLD);
    MPI_Recv(&value, 1, MPI_UNSIGNED, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (peer == 0) MPI_Send(&value, 1, MPI_UNSIGNED, peer, 0, MPI_COMM_WORLD);
  }
};

std::string mpi_name() {
  char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  MPI_Get_library_version(version, &length);
  return std::string(version).starts_with("Open MPI") ? "Open MPI" : "MPICH";
}

}  // namespace

int main(int argc, char** argv) {
  bench::task_program program("Measures jobs of tasks over an MPI.\n\nExample: mpirun -n 2 tasks_openmpi");
  if (const auto code = program.parse(argc, argv)) return *code;
  MPI_Init(&argc, &argv);
  {
    tutti::communicator world = tutti::adopt(MPI_COMM_WORLD);
    mpi_side side(world, program.workers);
    program.run(side, "tutti over " + mpi_name());
  }
  MPI_Finalize();
}

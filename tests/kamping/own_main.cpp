// SPDX-License-Identifier: Apache-2.0
//
// Tests a program that starts and ends MPI itself, without the common code of this folder.
#include <tutti/kamping.hpp>

int main(int argc, char** argv) {
  using namespace kamping;
  MPI_Init(&argc, &argv);
  int wrong = 0;
  {
    Environment<InitMPIMode::InitFinalizeIfNecessary> environment;
    Communicator comm;
    const auto all = comm.allgather(send_buf(comm.rank_signed()));
    for (std::size_t r = 0; r < comm.size(); ++r) wrong += all[r] != static_cast<int>(r);
    const auto sum = comm_world().allreduce_single(send_buf(wrong), op(ops::plus<>{}));
    wrong = sum;
  }
  int over = 1;
  MPI_Finalized(&over);
  const Environment<InitMPIMode::NoInitFinalize> other;
  other.finalize();
  wrong += !mpi_env.finalized();
  return wrong != 0 || over != 0 ? 1 : 0;
}

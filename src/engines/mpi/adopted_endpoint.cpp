// SPDX-License-Identifier: Apache-2.0
//
// The endpoint for programs that start MPI themselves and link it. It works over a communicator of
// the program.
#include "engines/mpi/adopted_endpoint.hpp"

#include <sched.h>

#include "engines/mpi/mpi_endpoint.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

bool mpi_has_concurrent_callers() noexcept {
  int initialized = 0, finalized = 0, level = MPI_THREAD_SINGLE;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  return initialized && !finalized && MPI_Query_thread(&level) == MPI_SUCCESS && level == MPI_THREAD_MULTIPLE;
}

std::unique_ptr<endpoint> make_mpi_endpoint(MPI_Comm comm, bool check_calls, rank_progress& operations,
                                            bool plain_messages) {
  int initialized = 0, finalized = 0;
  MPI_Initialized(&initialized);
  MPI_Finalized(&finalized);
  if (!initialized || finalized)
    throw usage_error("adopt", -1, "", initialized ? "MPI is finalized" : "MPI is not initialized",
                      "call adopt() between MPI_Init and MPI_Finalize");
  if (comm == MPI_COMM_NULL) throw usage_error("adopt", -1, "comm", "is MPI_COMM_NULL", "");
  int between_groups = 0;
  mpi::check(MPI_Comm_test_inter(comm, &between_groups), "adopt", -1);
  if (between_groups)
    throw usage_error("adopt", -1, "comm", "is an intercommunicator",
                      "merge it with MPI_Intercomm_merge first");
  // The calls that make duplicates progress no operation of the library. So wait until all ranks
  // are here.
  MPI_Request barrier;
  mpi::check(MPI_Ibarrier(comm, &barrier), "adopt", -1);
  for (int flag = 0;;) {
    mpi::check(MPI_Test(&barrier, &flag, MPI_STATUS_IGNORE), "adopt", -1);
    if (flag) break;
    operations.progress();
    mpi::mpi_endpoint::progress_on_node();
    sched_yield();
  }
  auto made = std::make_unique<mpi::mpi_endpoint>(comm, check_calls, plain_messages ? comm : MPI_COMM_NULL);
  made->leave_p2p_to_mpi(true);
  return made;
}

}  // namespace tutti::detail

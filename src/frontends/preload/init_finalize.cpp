// SPDX-License-Identifier: Apache-2.0
//
// The functions by which the program starts and ends MPI, and sets error handlers.
#include "engines/mpi/node_memory.hpp"
#include "frontends/preload/preload_process.hpp"

using namespace tutti::preload;

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  tutti::mpi::node_memory::prepare_process();
  const int code = real<MPI_Init>(argc, argv);
  if (code == MPI_SUCCESS) begin_process();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  tutti::mpi::node_memory::prepare_process();
  const int code = real<MPI_Init_thread>(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin_process();
  return code;
}

int MPI_Finalize() {
  end_process();
  return real<MPI_Finalize>();
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  if (process* const p = current()) p->handles_errors = true;
  return real<MPI_Comm_set_errhandler>(comm, handler);
}
}

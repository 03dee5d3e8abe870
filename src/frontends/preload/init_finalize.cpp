// SPDX-License-Identifier: Apache-2.0
//
// The functions by which the program starts and ends MPI, sets error handlers, and frees objects
// that calls in progress may still need.
#include "frontends/preload/preload_process.hpp"

namespace {

using namespace tutti::preload;

process* at_work() noexcept { return running.load(std::memory_order_acquire); }

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int code = real<MPI_Init>(argc, argv);
  if (code == MPI_SUCCESS) begin_process();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = real<MPI_Init_thread>(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin_process();
  return code;
}

int MPI_Finalize() {
  end_process();
  return real<MPI_Finalize>();
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  if (process* const p = at_work()) p->handles_errors = true;
  return real<MPI_Comm_set_errhandler>(comm, handler);
}

int MPI_Type_free(MPI_Datatype* type) {
  process* const p = at_work();
  if (p == nullptr || type == nullptr) return real<MPI_Type_free>(type);
  const unsigned before = p->types.generation();
  const bool kept = p->types.keeps(*type);
  if (p->types.generation() != before) p->all.leave_none();
  if (!kept) return real<MPI_Type_free>(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op* op) {
  process* const p = at_work();
  if (p == nullptr || op == nullptr) return real<MPI_Op_free>(op);
  p->types.forget();  // verdicts identify operators by their handles too
  p->all.leave_none();
  if (!p->ops.keeps(*op)) return real<MPI_Op_free>(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}
}

// SPDX-License-Identifier: Apache-2.0
//
// Where the program starts and ends MPI, sets error handlers, and frees what calls under way may still need.
#include "preload/process.hpp"

namespace {

using namespace tutti::preload;

process* at_work() noexcept { return running.load(std::memory_order_acquire); }

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int code = own<MPI_Init>(argc, argv);
  if (code == MPI_SUCCESS) begin_process();
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = own<MPI_Init_thread>(argc, argv, required, provided);
  if (code == MPI_SUCCESS) begin_process();
  return code;
}

int MPI_Finalize() {
  end_process();
  return own<MPI_Finalize>();
}

int MPI_Comm_set_errhandler(MPI_Comm comm, MPI_Errhandler handler) {
  if (process* const p = at_work()) p->handles_errors = true;
  return own<MPI_Comm_set_errhandler>(comm, handler);
}

int MPI_Type_free(MPI_Datatype* type) {
  process* const p = at_work();
  if (p == nullptr || type == nullptr) return own<MPI_Type_free>(type);
  const unsigned before = p->types.generation();
  const bool kept = p->types.keeps(*type);
  if (p->types.generation() != before) p->all.leave_none();
  if (!kept) return own<MPI_Type_free>(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int MPI_Op_free(MPI_Op* op) {
  process* const p = at_work();
  if (p == nullptr || op == nullptr) return own<MPI_Op_free>(op);
  p->types.forget();  // verdicts tell operators by their handles too
  p->all.leave_none();
  if (!p->ops.keeps(*op)) return own<MPI_Op_free>(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}
}

// SPDX-License-Identifier: Apache-2.0
//
// The functions by which the program starts and ends MPI, sets error handlers, makes datatypes and
// operators that a call may use soon, and frees those that calls in progress may still need.
#include "engines/mpi/node_memory.hpp"
#include "frontends/preload/preload_process.hpp"

namespace {

using namespace tutti::preload;

process* current() noexcept { return current_process.load(std::memory_order_acquire); }

}  // namespace

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

int MPI_Type_vector(int blocks, int items_of_block, int stride, MPI_Datatype of_item, MPI_Datatype* made) {
  const int code = real<MPI_Type_vector>(blocks, items_of_block, stride, of_item, made);
  process* const p = current();
  if (code == MPI_SUCCESS && p != nullptr)
    p->types.add_vector(*made, blocks, items_of_block, stride, of_item);
  return code;
}

int MPI_Type_commit(MPI_Datatype* type) {
  const int code = real<MPI_Type_commit>(type);
  process* const p = current();
  if (code == MPI_SUCCESS && p != nullptr) p->types.commit(*type);
  return code;
}

int MPI_Type_free(MPI_Datatype* type) {
  process* const p = current();
  if (p == nullptr || type == nullptr) return real<MPI_Type_free>(type);
  const unsigned before = p->types.generation();
  const bool kept = p->types.defer_free(*type);
  if (p->types.generation() != before) p->communicators.reset_forwarded();
  if (!kept) return real<MPI_Type_free>(type);
  *type = MPI_DATATYPE_NULL;
  return MPI_SUCCESS;
}

int MPI_Op_create(MPI_User_function* function, int commute, MPI_Op* op) {
  const int code = real<MPI_Op_create>(function, commute, op);
  process* const p = current();
  if (code == MPI_SUCCESS && p != nullptr) p->ops.add(*op, commute != 0);
  return code;
}

int MPI_Op_free(MPI_Op* op) {
  process* const p = current();
  if (p == nullptr || op == nullptr) return real<MPI_Op_free>(op);
  const unsigned before = p->types.generation();
  const bool kept = p->ops.defer_free(*op);
  if (p->types.generation() != before) p->communicators.reset_forwarded();
  if (!kept) return real<MPI_Op_free>(op);
  *op = MPI_OP_NULL;
  return MPI_SUCCESS;
}
}

// SPDX-License-Identifier: Apache-2.0
//
// The functions by which the program makes and frees datatypes and operators. Calls in progress may
// still need what it frees, and later ones may use what it makes.
#include "frontends/preload/preload_process.hpp"

using namespace tutti::preload;

extern "C" {

int MPI_Type_vector(int blocks, int items_of_block, int stride, MPI_Datatype item, MPI_Datatype* made) {
  process* const p = current();
  const vector_arguments of{blocks, items_of_block, stride, item};
  if (p != nullptr && made != nullptr)
    if (const MPI_Datatype kept = p->types.take_vector(of); kept != MPI_DATATYPE_NULL) {
      *made = kept;
      return MPI_SUCCESS;
    }
  const int code = real<MPI_Type_vector>(blocks, items_of_block, stride, item, made);
  if (code == MPI_SUCCESS && p != nullptr) p->types.add_vector(*made, of);
  return code;
}

int MPI_Type_commit(MPI_Datatype* type) {
  process* const p = current();
  if (p != nullptr && type != nullptr && p->types.commit_vector(*type)) return MPI_SUCCESS;
  const int code = real<MPI_Type_commit>(type);
  if (code == MPI_SUCCESS && p != nullptr) p->types.commit(*type);
  return code;
}

int MPI_Type_set_name(MPI_Datatype type, const char* name) {
  if (process* const p = current()) p->types.change(type);
  return real<MPI_Type_set_name>(type, name);
}

int MPI_Type_set_attr(MPI_Datatype type, int keyval, void* value) {
  if (process* const p = current()) p->types.change(type);
  return real<MPI_Type_set_attr>(type, keyval, value);
}

// The program frees the datatypes that it gets here, and others may hold them still.
int MPI_Type_get_contents(MPI_Datatype type, int max_ints, int max_addresses, int max_types, int* ints,
                          MPI_Aint* addresses, MPI_Datatype* types) {
  const int code =
      real<MPI_Type_get_contents>(type, max_ints, max_addresses, max_types, ints, addresses, types);
  process* const p = current();
  if (code != MPI_SUCCESS || p == nullptr) return code;
  int a = 0, b = 0, count = 0, combiner = 0;
  if (PMPI_Type_get_envelope(type, &a, &b, &count, &combiner) == MPI_SUCCESS)
    for (int i = 0; i < count && i < max_types; ++i) p->types.change(types[i]);
  return code;
}

int MPI_Type_free(MPI_Datatype* type) {
  process* const p = current();
  if (p == nullptr || type == nullptr) return real<MPI_Type_free>(type);
  const unsigned before = p->types.generation();
  MPI_Datatype freed = p->types.begin_free(*type);
  if (p->types.generation() != before) p->communicators.reset_forwarded();
  if (freed == *type) return real<MPI_Type_free>(type);
  *type = MPI_DATATYPE_NULL;
  return freed == MPI_DATATYPE_NULL ? MPI_SUCCESS : real<MPI_Type_free>(&freed);
}

int MPI_Op_create(MPI_User_function* function, int commute, MPI_Op* op) {
  process* const p = current();
  if (p != nullptr && op != nullptr)
    if (const MPI_Op kept = p->ops.take(function, commute != 0); kept != MPI_OP_NULL) {
      *op = kept;
      return MPI_SUCCESS;
    }
  const int code = real<MPI_Op_create>(function, commute, op);
  if (code == MPI_SUCCESS && p != nullptr) p->ops.add(*op, function, commute != 0);
  return code;
}

int MPI_Op_free(MPI_Op* op) {
  process* const p = current();
  if (p == nullptr || op == nullptr) return real<MPI_Op_free>(op);
  const unsigned before = p->types.generation();
  MPI_Op freed = p->ops.begin_free(*op);
  if (p->types.generation() != before) p->communicators.reset_forwarded();
  if (freed == *op) return real<MPI_Op_free>(op);
  *op = MPI_OP_NULL;
  return freed == MPI_OP_NULL ? MPI_SUCCESS : real<MPI_Op_free>(&freed);
}
}

// SPDX-License-Identifier: Apache-2.0
//
// Tests datatypes and operators that the program makes again after it has freed equal ones: many at
// once, two at once, with names and attributes, and operators with and without the same function.
// Also reductions of items with gaps beside memory that the program does not have.
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "check.h"

enum { MANY = 150, UNTOUCHED = -77 };

static double value(int i, int seed) { return seed * 1000.0 + i; }

/// More vectors at once than tutti remembers, each with a distance of its own.
static long run_many_vectors(MPI_Comm comm) {
  MPI_Datatype types[MANY];
  double memory[MANY + 3];
  const int rank = rank_in(comm), ranks = size_of(comm);
  for (int i = 0; i < MANY; ++i) {
    MPI_Type_vector(2, 1, 2 + i, MPI_DOUBLE, &types[i]);
    MPI_Type_commit(&types[i]);
  }
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < MANY; ++i) {
      const int root = (i + round) % ranks;
      for (int k = 0; k < MANY + 3; ++k) memory[k] = UNTOUCHED;
      if (rank == root) memory[0] = value(0, i), memory[2 + i] = value(1, i);
      expect_success(MPI_Bcast(memory, 1, types[i], root, comm), "bcast", "one of many vectors");
      for (int k = 0; k < MANY + 3; ++k) {
        const double expected = k == 0 ? value(0, i) : k == 2 + i ? value(1, i) : UNTOUCHED;
        if (memory[k] != expected)
          fail("bcast", "double %d of vector %d is %g in place of %g", k, i, memory[k], expected);
      }
    }
  for (int i = 0; i < MANY; ++i) MPI_Type_free(&types[i]);
  return 3L * MANY;
}

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((double*)inout)[i] += ((double*)in)[i];
}

static void larger(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i)
    if (((double*)in)[i] > ((double*)inout)[i]) ((double*)inout)[i] = ((double*)in)[i];
}

/// Keeps the left operand, so it is not commutative.
static void left(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  memcpy(inout, in, (size_t)*n * sizeof(double));
}

enum { ADD, LARGER, LEFT, FUNCTIONS };

static void make_operator(int function, MPI_Op* op) {
  MPI_User_function* const functions[] = {add, larger, left};
  MPI_Op_create(functions[function], function != LEFT, op);
}

static double reduced_value(int function, int ranks, int k, int seed) {
  double sum = 0;
  if (function == LEFT) return value(k, seed);
  if (function == LARGER) return value(k, ranks - 1 + seed);
  for (int r = 0; r < ranks; ++r) sum += value(k, r + seed);
  return sum;
}

static void reduce_by(MPI_Comm comm, int function, MPI_Op op, int n, int seed) {
  const int rank = rank_in(comm), ranks = size_of(comm), root = seed * 3 % ranks;
  double in[8], out[8], all[8];
  for (int k = 0; k < n; ++k) in[k] = value(k, rank + seed);
  expect_success(MPI_Allreduce(in, all, n, MPI_DOUBLE, op, comm), "allreduce", "an operator of its own");
  expect_success(MPI_Reduce(in, out, n, MPI_DOUBLE, op, root, comm), "reduce", "an operator of its own");
  for (int k = 0; k < n; ++k) {
    const double expected = reduced_value(function, ranks, k, seed);
    if (all[k] != expected)
      fail("allreduce", "function %d yields %g in place of %g", function, all[k], expected);
    if (rank == root && out[k] != expected)
      fail("reduce", "function %d yields %g in place of %g", function, out[k], expected);
  }
}

/// An operator for each call, and one for several calls. Its successor may have the same handle and
/// another function, which may not be commutative.
static long run_operators(MPI_Comm comm) {
  long cases = 0;
  for (int i = 0; i < 60; ++i) {
    const int function = i * 7 % FUNCTIONS, uses = i % 4 == 0 ? 5 : 1;
    MPI_Op op;
    make_operator(function, &op);
    for (int use = 0; use < uses; ++use, ++cases) reduce_by(comm, function, op, 1 + (i + use) % 8, i + use);
    MPI_Op_free(&op);
    reduce_by(comm, ADD, MPI_SUM, 1 + i % 8, i);
  }
  // Two with the same function at once.
  for (int i = 0; i < 4; ++i) {
    MPI_Op one, other;
    make_operator(LARGER, &one);
    make_operator(LARGER, &other);
    if (one == other) fail("operators", "two operators have the same handle");
    MPI_Op_free(&one);
    if (one != MPI_OP_NULL) fail("operators", "a freed operator is not null");
    reduce_by(comm, LARGER, other, 3, i);
    MPI_Op_free(&other);
  }
  return cases;
}

static int deleted;  // attributes

static int count_deletion(MPI_Datatype type, int keyval, void* value, void* extra) {
  (void)type, (void)keyval, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static MPI_Datatype make_vector(void) {
  MPI_Datatype type;
  MPI_Type_vector(3, 2, 5, MPI_INT, &type);
  MPI_Type_commit(&type);
  return type;
}

/// A datatype that is made like one that was freed has neither its name nor its attributes. Two
/// that the program has at once are different ones.
static long expect_new_vectors(void) {
  int key;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_deletion, &key, NULL);
  for (int i = 0; i < 4; ++i) {
    MPI_Datatype one = make_vector(), other = make_vector();
    if (one == other) fail("vectors", "two vectors have the same handle");
    char name[MPI_MAX_OBJECT_NAME];
    int length = 0, found = 0, size = 0;
    void* value;
    for (int second = 0; second < 2; ++second) {
      MPI_Type_get_name(second ? other : one, name, &length);
      if (length != 0) fail("vectors", "a new vector has the name %s", name);
      MPI_Type_get_attr(second ? other : one, key, &value, &found);
      if (found) fail("vectors", "a new vector has an attribute");
    }
    if (i % 2 == 0) MPI_Type_set_name(one, "old");
    if (i / 2 == 0) MPI_Type_set_attr(other, key, name);
    MPI_Type_free(&one);
    if (one != MPI_DATATYPE_NULL) fail("vectors", "a freed vector is not null");
    MPI_Type_size(other, &size);
    if (size != 6 * (int)sizeof(int)) fail("vectors", "the other vector has %d bytes", size);
    deleted = 0;
    MPI_Type_free(&other);
    if (deleted != (i / 2 == 0)) fail("vectors", "%d attributes of a freed vector were deleted", deleted);
  }
  MPI_Type_free_keyval(&key);
  // A handle that MPI returns once more is freed while the program still has the datatype.
  MPI_Datatype vector = make_vector(), two, again;
  int ints[1], combiner, n;
  MPI_Aint addresses[1];
  MPI_Type_contiguous(2, vector, &two);
  MPI_Type_get_envelope(two, &n, &n, &n, &combiner);
  MPI_Type_get_contents(two, 1, 0, 1, ints, addresses, &again);
  MPI_Type_free(&again);
  again = make_vector();
  if (again == vector) fail("vectors", "a vector that the program has was given out");
  MPI_Type_free(&again);
  MPI_Type_free(&vector);
  MPI_Type_free(&two);
  return 5;
}

static void nothing(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)in, (void)inout, (void)n, (void)type;
}

/// Reductions of items with gaps, before memory that the program does not have, and around it.
static long reduce_at_borders(MPI_Comm comm) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  char* const at = mmap(NULL, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED || mprotect(at + page, page, PROT_NONE) != 0 ||
      mprotect(at + 3 * page, page, PROT_NONE) != 0)
    fail("allreduce", "there is no memory for the test");
  MPI_Op op;
  MPI_Op_create(nothing, 1, &op);
  const int lengths[2] = {1, 1};
  const MPI_Datatype parts[2] = {MPI_DOUBLE, MPI_SHORT};
  for (int hole = 0; hole < 2; ++hole) {
    // The last item ends with its last short, or its short lies behind the page that is missing.
    const MPI_Aint places[2] = {0, hole ? (MPI_Aint)(2 * page - 16) : 8};
    MPI_Datatype packed, type;
    MPI_Type_create_struct(2, lengths, places, parts, &packed);
    MPI_Type_create_resized(packed, 0, hole ? (MPI_Aint)(2 * page) : 16, &type);
    MPI_Type_commit(&type);
    const int items = hole ? 1 : 3;
    char* const in = hole ? at + 32 : at + page - 42;
    memset(in, 5, 8);
    memset(in + places[1], 6, 2);
    char* const out = calloc(3, page);
    expect_success(MPI_Allreduce(in, out, items, type, op, comm), "allreduce", "items with gaps");
    if (out[0] != 5 || out[7] != 5 || out[places[1]] != 6 || out[places[1] + 1] != 6 || out[places[1] + 2])
      fail("allreduce", "items with gaps have other values");
    free(out);
    MPI_Type_free(&type);
    MPI_Type_free(&packed);
  }
  MPI_Op_free(&op);
  munmap(at, 4 * page);
  return 2;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_in(MPI_COMM_WORLD), &reversed);
  long cases = run_operators(MPI_COMM_WORLD) + run_operators(reversed) + run_many_vectors(MPI_COMM_WORLD);
  cases += expect_new_vectors() + reduce_at_borders(MPI_COMM_WORLD);
  MPI_Comm_free(&reversed);
  return finish("made_again", cases);
}

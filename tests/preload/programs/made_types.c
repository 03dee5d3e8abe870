// SPDX-License-Identifier: Apache-2.0
//
// Tests bcasts with a datatype that the program makes for the call and frees after it, as the BLACS
// do. So handles get new meanings. Each rank describes the same doubles by another datatype. Memory
// around the items must not change. A datatype that is not committed is an error.
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MAX_ITEMS = 1000, MARGIN = 64, UNTOUCHED = -77 };
enum { DOUBLES = 4 * MAX_ITEMS + 2 * MARGIN };

enum kind {
  PLAIN,       // MPI_DOUBLE
  CONTIGUOUS,  // one item of all doubles
  VECTOR,      // one item with gaps
  BLOCKS,      // the same of blocks of several doubles
  VECTORS,     // several such items
  REVERSED,    // a vector with a negative distance
  KEPT,        // a datatype of one double and a gap, made once
  NEGATIVE,    // a lower bound below 0
  BACKWARDS,   // from the end of the memory to its begin
  ABSOLUTE,    // addresses from MPI_BOTTOM
  KINDS
};

/// What a rank passes to MPI_Bcast.
struct described {
  void* buffer;
  int count;
  MPI_Datatype type;
};

static MPI_Datatype kept;  // a double and a gap of one double
static double memory[DOUBLES];

static int block_of(int n) { return n % 3 == 0 ? 3 : n % 2 == 0 ? 2 : 1; }
/// The doubles of a vector, if there are several.
static int items_of(int n) { return n % 2 == 0 ? 2 : 1; }

/// The index of item i, of n, in `memory`.
static int place(enum kind kind, int i, int n, int stride) {
  const int block = block_of(n), each = items_of(n);
  switch (kind) {
    case PLAIN:
    case CONTIGUOUS:
      return MARGIN + i;
    case KEPT:
      return MARGIN + 2 * i;
    case BLOCKS:
      return MARGIN + i / block * (block + stride - 1) + i % block;
    case VECTORS:
      return MARGIN + i / each * ((each - 1) * stride + 1) + i % each * stride;
    case REVERSED:
    case BACKWARDS:
      return MARGIN + stride * (n - 1 - i);
    default:
      return MARGIN + stride * i;
  }
}

static struct described describe(enum kind kind, int n, int stride) {
  const MPI_Aint bytes = sizeof(double);
  struct described d = {memory + MARGIN, 1, MPI_DATATYPE_NULL};
  int lengths[MAX_ITEMS];
  MPI_Aint offsets[MAX_ITEMS], at;
  switch (kind) {
    case PLAIN:
      return (struct described){memory + MARGIN, n, MPI_DOUBLE};
    case KEPT:
      return (struct described){memory + MARGIN, n, kept};
    case CONTIGUOUS:
      MPI_Type_contiguous(n, MPI_DOUBLE, &d.type);
      break;
    case BLOCKS:
      MPI_Type_vector(n / block_of(n), block_of(n), block_of(n) + stride - 1, MPI_DOUBLE, &d.type);
      break;
    case VECTORS:
      d.count = n / items_of(n);
      MPI_Type_vector(items_of(n), 1, stride, MPI_DOUBLE, &d.type);
      break;
    case REVERSED:
      d.buffer = memory + place(kind, 0, n, stride);
      MPI_Type_vector(n, 1, -stride, MPI_DOUBLE, &d.type);
      break;
    case NEGATIVE:
      d.count = n;
      MPI_Type_create_resized(MPI_DOUBLE, -2 * bytes, stride * bytes, &d.type);
      break;
    case BACKWARDS:
      d.buffer = memory + place(kind, 0, n, stride);
      MPI_Type_create_hvector(n, 1, -stride * bytes, MPI_DOUBLE, &d.type);
      break;
    case ABSOLUTE:
      d.buffer = MPI_BOTTOM;
      MPI_Get_address(memory, &at);
      for (int i = 0; i < n; ++i) {
        lengths[i] = 1;
        offsets[i] = at + place(kind, i, n, stride) * bytes;
      }
      MPI_Type_create_hindexed(n, lengths, offsets, MPI_DOUBLE, &d.type);
      break;
    default:
      MPI_Type_vector(n, 1, stride, MPI_DOUBLE, &d.type);
  }
  MPI_Type_commit(&d.type);
  return d;
}

static double value(int i, int seed) { return seed * 1000.0 + i; }

static void bcast(MPI_Comm comm, enum kind kind, int n, int stride, int root, int seed) {
  const int rank = rank_in(comm);
  struct described d = describe(kind, n, stride);
  for (int i = 0; i < DOUBLES; ++i) memory[i] = UNTOUCHED;
  for (int i = 0; rank == root && i < n; ++i) memory[place(kind, i, n, stride)] = value(i, seed);
  expect_success(MPI_Bcast(d.buffer, d.count, d.type, root, comm), "bcast", "a datatype of its own");
  if (d.type != MPI_DOUBLE && d.type != kept) MPI_Type_free(&d.type);
  for (int i = 0; i < n; ++i) {
    double* const item = &memory[place(kind, i, n, stride)];
    if (*item != value(i, seed))
      fail("bcast", "item %d of %d of kind %d is %g in place of %g", i, n, kind, *item, value(i, seed));
    *item = UNTOUCHED;
  }
  for (int i = 0; i < DOUBLES; ++i)
    if (memory[i] != UNTOUCHED) fail("bcast", "kind %d, %d items: double %d is overwritten", kind, n, i);
}

/// All sizes, with all pairs of kinds at the root and at other ranks.
/// Open MPI cuts messages into parts of whole items. So its own bcast requires the same number of
/// items on all ranks: they have the same kind, unless `all`.
static long run_kinds(MPI_Comm comm, int all) {
  // 6 doubles fit in a line of tutti, and 512 in what it packs by MPI_Pack.
  static const int sizes[] = {0, 1, 2, 4, 6, 7, 100, 511, 512, 513, MAX_ITEMS};
  const int rank = rank_in(comm), ranks = size_of(comm);
  long cases = 0;
  for (int first = 0; first < KINDS; ++first)
    for (int other = 0; other < KINDS; ++other)
      for (int i = 0; i < (int)(sizeof sizes / sizeof *sizes); ++i) {
        const int root = (first + other + i) % ranks, same = rank == root || !all;
        const int kind = same ? first : (other + rank / 3) % KINDS;
        bcast(comm, (enum kind)kind, sizes[i], 2 + (first + i) % 3, root, (int)++cases);
      }
  // One kind several times, with the same and with changing roots.
  for (int kind = 0; kind < KINDS; ++kind)
    for (int i = 0; i < 12; ++i) {
      const int root = i < 6 ? 0 : i % ranks;
      bcast(comm, (enum kind)kind, 3 + i % 2, 2 + i % 2, root, (int)++cases);
    }
  return cases;
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

/// A datatype made like one that was freed may be committed already, so this one is new.
static void expect_uncommitted(MPI_Comm comm) {
  MPI_Comm own;
  MPI_Comm_dup(comm, &own);
  MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
  bcast(own, VECTOR, 4, 2, 0, 1);
  bcast(own, VECTOR, 4, 2, size_of(own) - 1, 2);
  MPI_Datatype type;
  MPI_Type_vector(4, 1, 9, MPI_DOUBLE, &type);
  for (int i = 0; i < 2; ++i) {
    const int code = MPI_Bcast(memory + MARGIN, 1, type, 0, own);
    if (class_of(code) != MPI_ERR_TYPE)
      fail("bcast", "a datatype that is not committed gives class %d", class_of(code));
  }
  MPI_Type_commit(&type);
  for (int i = 0; i < 28; ++i) memory[MARGIN + i] = rank_in(own) == 0 ? i : UNTOUCHED;
  for (int root = 0; root < 2; ++root)
    expect_success(MPI_Bcast(memory + MARGIN, 1, type, 0, own), "bcast", "a datatype that is now committed");
  for (int i = 0; i < 28; i += 9)
    if (memory[MARGIN + i] != i) fail("bcast", "a datatype that is now committed receives nothing");
  MPI_Type_free(&type);
  MPI_Comm_free(&own);
}

/// Sums at changing roots, between which the count changes too.
static long run_reduces(MPI_Comm comm) {
  const int rank = rank_in(comm), ranks = size_of(comm);
  long cases = 0;
  for (int i = 0; i < 40; ++i, ++cases) {
    const int n = 1 + i * 7 % 5, root = i * 3 % ranks;
    double in[5], out[5] = {UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED};
    for (int k = 0; k < n; ++k) in[k] = value(k, rank + i);
    expect_success(MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, root, comm), "reduce", "changing roots");
    for (int k = 0; k < 5; ++k) {
      double sum = 0;
      for (int r = 0; r < ranks; ++r) sum += value(k, r + i);
      const double expected = rank == root && k < n ? sum : UNTOUCHED;
      if (out[k] != expected)
        fail("reduce", "value %d at root %d is %g in place of %g", k, root, out[k], expected);
    }
  }
  return cases;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int all = argument(argc, argv, "all", 0) != 0;
  MPI_Type_create_resized(MPI_DOUBLE, 0, 2 * (MPI_Aint)sizeof(double), &kept);
  MPI_Type_commit(&kept);
  MPI_Comm reversed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_in(MPI_COMM_WORLD), &reversed);
  long cases = run_kinds(MPI_COMM_WORLD, all) + run_kinds(reversed, all);
  cases += run_reduces(MPI_COMM_WORLD) + run_reduces(reversed);
  if (!all) expect_uncommitted(MPI_COMM_WORLD);  // MPI gets these calls
  MPI_Comm_free(&reversed);
  MPI_Type_free(&kept);
  return finish("made_types", cases + 1);
}

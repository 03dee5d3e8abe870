// SPDX-License-Identifier: Apache-2.0
//
// Tests the block that a rank sends to itself in a gatherv, scatterv and alltoallv. It may be
// shorter than the rank expects, which MPI forbids. The MPIs accept it, but not Open MPI in an
// alltoallv. What is behind it must stay as it is, also if the items have gaps. And both sides may
// use one address, if their blocks are apart.
#include <stdlib.h>

#include "check.h"

enum { N = 4, MAX_RANKS = 16, UNTOUCHED = -77, STRIDE = 2 };

static int rank, ranks;
static int counts[MAX_RANKS], displs[MAX_RANKS];
static MPI_Datatype with_gaps;  // an int and a gap of one int

static int value(int from, int to, int i) { return 10000 * from + 100 * to + i; }

static int* untouched(int n) {
  int* const all = checked_malloc((size_t)n * sizeof(int));
  for (int i = 0; i < n; ++i) all[i] = UNTOUCHED;
  return all;
}

// Blocks of N items, of which that of `from` has `n` values, and the rest is untouched.
static void expect_block(const char* collective, const int* items, int stride, int from, int to, int n) {
  for (int i = 0; i < N; ++i) {
    const int expected = i < n ? value(from, to, i) : UNTOUCHED;
    if (items[i * stride] != expected)
      fail(collective, "item %d of the block of rank %d is %d in place of %d", i, from, items[i * stride],
           expected);
    if (stride > 1 && items[i * stride + 1] != UNTOUCHED) fail(collective, "a gap is overwritten");
  }
}

static void gatherv(int root, int stride) {
  const MPI_Datatype type = stride == 1 ? MPI_INT : with_gaps;
  int mine[N], n = rank == root ? 2 : N;
  for (int i = 0; i < N; ++i) mine[i] = value(rank, root, i);
  int* const all = untouched(ranks * N * stride);
  expect_success(MPI_Gatherv(mine, n, MPI_INT, all, counts, displs, type, root, MPI_COMM_WORLD), "gatherv",
                 "a call with a short own block");
  if (rank == root)
    for (int r = 0; r < ranks; ++r)
      expect_block("gatherv", all + r * N * stride, stride, r, root, r == root ? 2 : N);
  free(all);
}

static void scatterv(int root, int stride) {
  const MPI_Datatype type = stride == 1 ? MPI_INT : with_gaps;
  int sent[MAX_RANKS];
  int* const all = untouched(ranks * N);
  for (int r = 0; r < ranks; ++r) {
    sent[r] = r == root ? 2 : N;
    for (int i = 0; i < N; ++i) all[r * N + i] = value(root, r, i);
  }
  int* const mine = untouched(N * stride);
  expect_success(MPI_Scatterv(all, sent, displs, MPI_INT, mine, N, type, root, MPI_COMM_WORLD), "scatterv",
                 "a call with a short own block");
  expect_block("scatterv", mine, stride, root, rank, rank == root ? 2 : N);
  free(mine);
  free(all);
}

#ifdef OPEN_MPI
enum { OWN_OF_ALLTOALLV = N };
#else
enum { OWN_OF_ALLTOALLV = 1 };
#endif

static void alltoallv(int stride) {
  const MPI_Datatype type = stride == 1 ? MPI_INT : with_gaps;
  int sent[MAX_RANKS];
  int* const out = untouched(ranks * N);
  for (int r = 0; r < ranks; ++r) {
    sent[r] = r == rank ? OWN_OF_ALLTOALLV : N;
    for (int i = 0; i < N; ++i) out[r * N + i] = value(rank, r, i);
  }
  int* const in = untouched(ranks * N * stride);
  expect_success(MPI_Alltoallv(out, sent, displs, MPI_INT, in, counts, displs, type, MPI_COMM_WORLD),
                 "alltoallv", "a call with a short own block");
  for (int r = 0; r < ranks; ++r)
    expect_block("alltoallv", in + r * N * stride, stride, r, rank, r == rank ? OWN_OF_ALLTOALLV : N);
  free(in);
  free(out);
}

// The blocks to send are behind those that are received, in one allocation.
static void one_address(void) {
  int sent[MAX_RANKS], behind[MAX_RANKS];
  int* const all = untouched(3 * ranks * N);
  for (int r = 0; r < ranks; ++r) {
    sent[r] = N;
    behind[r] = 2 * ranks * N + r * N;
    for (int i = 0; i < N; ++i) all[behind[r] + i] = value(rank, r, i);
  }
  expect_success(MPI_Alltoallv(all, sent, behind, MPI_INT, all, counts, displs, MPI_INT, MPI_COMM_WORLD),
                 "alltoallv", "a call with one address");
  for (int r = 0; r < ranks; ++r) {
    expect_block("alltoallv", all + r * N, 1, r, rank, N);
    expect_block("alltoallv", all + behind[r], 1, rank, r, N);
  }
  for (int i = ranks * N; i < 2 * ranks * N; ++i)
    if (all[i] != UNTOUCHED) fail("alltoallv", "what is between the blocks is overwritten");
  free(all);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  rank = rank_in(MPI_COMM_WORLD);
  ranks = size_of(MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) {
    counts[r] = N;
    displs[r] = r * N;
  }
  MPI_Type_create_resized(MPI_INT, 0, STRIDE * (MPI_Aint)sizeof(int), &with_gaps);
  MPI_Type_commit(&with_gaps);
  long cases = 0;
  for (int stride = 1; stride <= STRIDE; ++stride) {
    for (int root = 0; root < ranks; ++root) {
      gatherv(root, stride);
      scatterv(root, stride);
      cases += 2;
    }
    alltoallv(stride);
    one_address();
    cases += 2;
  }
  MPI_Type_free(&with_gaps);
  return finish("own_blocks", cases);
}

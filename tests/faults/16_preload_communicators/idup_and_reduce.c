// SPDX-License-Identifier: Apache-2.0
//
// Nonblocking duplicates of two communicators are in progress together with nonblocking reductions
// on their parents. Every second rank begins with the other communicator. Then all collectives run
// on the duplicates; the first one is nonblocking on one and blocking on the other.
#include <stdio.h>

#include "check.h"

static void expect_sum(MPI_Comm comm, int got, int given, const char* what) {
  const int ranks = size_of(comm), right = ranks * given + ranks * (ranks - 1) / 2;
  if (got != right) fail("allreduce", "%s: the sum is %d, should be %d", what, got, right);
}

/// Makes blocking calls; they must not match those of another communicator.
static long use(MPI_Comm comm, int round, const char* what) {
  const int rank = rank_in(comm), ranks = size_of(comm);
  int mine = rank + round, sum = 0, all[64], root = 0;
  MPI_Barrier(comm);
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  expect_sum(comm, sum, round, what);
  MPI_Allgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm);
  for (int r = 0; r < ranks; ++r)
    if (all[r] != r + round)
      fail("allgather", "%s: block %d is %d, should be %d", what, r, all[r], r + round);
  root = rank == ranks - 1 ? round : -1;
  MPI_Bcast(&root, 1, MPI_INT, ranks - 1, comm);
  if (root != round) fail("bcast", "%s: received %d, should be %d", what, root, round);
  return 4;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD), rounds = (int)argument(argc, argv, "rounds", 8);
  long cases = 0;
  MPI_Comm old[2], made[2];
  old[0] = MPI_COMM_WORLD;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &old[1]);
  MPI_Barrier(old[1]);
  for (int round = 0; round < rounds; ++round) {
    MPI_Request requests[6];
    int mine[2] = {0, 0}, sums[2] = {0, 0}, next[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
      const int k = (i + rank) % 2;
      mine[k] = rank_in(old[k]) + round;
      MPI_Comm_idup(old[k], &made[k], &requests[2 * k]);
      MPI_Iallreduce(&mine[k], &sums[k], 1, MPI_INT, MPI_SUM, old[k], &requests[2 * k + 1]);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 2; ++i) expect_sum(old[i], sums[i], round, "on the old one");
    // The first call on each is nonblocking. One is waited for before a blocking call, the other
    // after it.
    for (int i = 0; i < 2; ++i)
      MPI_Iallreduce(&mine[i], &next[i], 1, MPI_INT, MPI_SUM, made[i], &requests[i]);
    MPI_Wait(&requests[round % 2], MPI_STATUS_IGNORE);
    cases += use(made[0], round, "the first duplicate");
    cases += use(made[1], round, "the second duplicate");
    MPI_Wait(&requests[1 - round % 2], MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; ++i) {
      expect_sum(made[i], next[i], round, "on the duplicate");
      MPI_Comm_free(&made[i]);
    }
  }
  MPI_Comm_free(&old[1]);
  return finish("idup_and_reduce", cases);
}

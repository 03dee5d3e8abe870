// SPDX-License-Identifier: Apache-2.0
//
// Tests communicators of all kinds: parts, reordered, cartesian and their parts, of a group,
// intercommunicators and merged ones, of one rank. Many exist at once, and some are created and
// freed repeatedly.
#include <stdlib.h>

#include "check.h"
#include "known_faults.h"

static void value(char* element, int rank, long index) {
  *(int*)(void*)element = (rank + 3) * 7 + (int)index;
}

static void sum(const char* left, const char* right, char* result) {
  *(int*)(void*)result = *(const int*)(const void*)left + *(const int*)(const void*)right;
}

/// Runs every collective once on that communicator, blocking and nonblocking.
static long run_all(MPI_Comm comm, const struct layout* ints, long units) {
  const int ranks = size_of(comm);
  const struct algebra algebra = {"sum", ints, MPI_SUM, 4, value, sum};
  long cases = 0;
  for (int nonblocking = 0; nonblocking < 2; ++nonblocking) {
    for (enum collective which = BARRIER; which < COLLECTIVES; ++which) {
      struct job job;
      const struct move move = {.comm = comm,
                                .send = ints,
                                .recv = ints,
                                .units = units,
                                .root = ranks - 1,
                                .seed = (unsigned)which};
      const struct reduction reduction = {comm, &algebra, units, ranks - 1, 0};
      if (which < REDUCE && move_has_known_fault(which, &move, nonblocking)) continue;
      if (which < REDUCE) {
        make_move(&job, which, &move);
      } else {
        make_reduction(&job, which, &reduction);
      }
      start(&job, nonblocking);
      complete(&job);
      ++cases;
    }
  }
  return cases;
}

/// Checks by a sum that calls run on this communicator.
static void expect_sum(MPI_Comm comm, const char* what) {
  int one = 1, all = 0;
  MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, comm);
  if (all != size_of(comm)) fail("allreduce", "%s: counted %d of %d ranks", what, all, size_of(comm));
}

static long run_kinds(const struct layout* ints) {
  const int rank = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  long cases = 0;
  MPI_Comm comm, part;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  cases += run_all(comm, ints, 10);
  MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &comm);
  cases += run_all(comm, ints, 10);
  MPI_Comm_free(&comm);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &comm);
  if (comm != MPI_COMM_NULL) {
    cases += run_all(comm, ints, 3);
    MPI_Comm_free(&comm);
  }
  int dims[2] = {0, 0};
  MPI_Dims_create(ranks, 2, dims);
  MPI_Cart_create(MPI_COMM_WORLD, 2, dims, (int[]){1, 0}, 1, &comm);
  cases += run_all(comm, ints, 5);
  for (int keep = 0; keep < 2; ++keep) {
    MPI_Cart_sub(comm, (int[]){keep == 0, keep == 1}, &part);
    if (size_of(part) != dims[keep]) fail("cart_sub", "%d ranks, should be %d", size_of(part), dims[keep]);
    cases += run_all(part, ints, 5);
    MPI_Comm_free(&part);
  }
  MPI_Comm_free(&comm);
  MPI_Group group, backwards;
  MPI_Comm_group(MPI_COMM_WORLD, &group);
  MPI_Group_range_incl(group, 1, (int[1][3]){{ranks - 1, 0, -1}}, &backwards);
  MPI_Comm_create(MPI_COMM_WORLD, backwards, &comm);
  if (rank_in(comm) != ranks - 1 - rank)
    fail("comm_create", "rank %d, should be %d", rank_in(comm), ranks - 1 - rank);
  cases += run_all(comm, ints, 8);
  MPI_Comm_free(&comm);
  MPI_Group_free(&backwards);
  // Only members of the group call this function, so it must not use a collective of all ranks.
  MPI_Group_range_incl(group, 1, (int[1][3]){{ranks / 2, ranks - 1, 1}}, &backwards);
  if (rank >= ranks / 2) {
    MPI_Comm_create_group(MPI_COMM_WORLD, backwards, 99, &comm);
    cases += run_all(comm, ints, 8);
    MPI_Comm_free(&comm);
  }
  MPI_Group_free(&backwards);
  MPI_Group_free(&group);
  cases += run_all(MPI_COMM_SELF, ints, 10);
  return cases;
}

/// An intercommunicator, which the library ignores, and the communicator that results from a merge.
static long run_between(const struct layout* ints) {
  const int rank = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  if (ranks < 2) return 0;
  const int half = ranks / 2, upper = rank >= half;
  MPI_Comm mine, between, merged;
  MPI_Comm_split(MPI_COMM_WORLD, upper, rank, &mine);
  MPI_Intercomm_create(mine, 0, MPI_COMM_WORLD, upper ? 0 : half, 5, &between);
  const int others = upper ? half : ranks - half;
  int one = upper ? 100 : 1, sum_of_others = 0;
  MPI_Allreduce(&one, &sum_of_others, 1, MPI_INT, MPI_SUM, between);
  if (sum_of_others != others * (upper ? 1 : 100)) fail("allreduce", "between groups: %d", sum_of_others);
  MPI_Request request;
  sum_of_others = 0;
  MPI_Iallreduce(&one, &sum_of_others, 1, MPI_INT, MPI_SUM, between, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (sum_of_others != others * (upper ? 1 : 100)) fail("iallreduce", "between groups: %d", sum_of_others);
  MPI_Barrier(between);
  int value = rank == 0 ? 77 : 0;
  MPI_Bcast(&value, 1, MPI_INT, upper ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL, between);
  if (upper && value != 77) fail("bcast", "between groups: %d", value);
  int* ranks_of_others = checked_malloc((size_t)others * sizeof(int));
  MPI_Allgather(&rank, 1, MPI_INT, ranks_of_others, 1, MPI_INT, between);
  for (int i = 0; i < others; ++i) {
    if (ranks_of_others[i] != (upper ? i : half + i))
      fail("allgather", "between groups: block %d is %d", i, ranks_of_others[i]);
  }
  free(ranks_of_others);
  MPI_Intercomm_merge(between, upper, &merged);
  const long cases = 5 + run_all(merged, ints, 10);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&between);
  MPI_Comm_free(&mine);
  return cases;
}

static long run_repeatedly(int times) {
  for (int i = 0; i < times; ++i) {
    MPI_Comm comm;
    if (i % 3 == 0) MPI_Comm_split(MPI_COMM_WORLD, (rank_in(MPI_COMM_WORLD) + i) % 2, 0, &comm);
    if (i % 3 != 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    expect_sum(comm, "made again");
    if (i % 4 == 0) expect_sum(comm, "made again, second call");
    MPI_Comm_free(&comm);
  }
  return times;
}

static long run_many(int many) {
  MPI_Comm* comms = checked_malloc((size_t)many * sizeof(MPI_Comm));
  MPI_Request* requests = checked_malloc((size_t)many * sizeof(MPI_Request));
  int *mine = checked_malloc((size_t)many * sizeof(int)), *sums = checked_malloc((size_t)many * sizeof(int));
  for (int i = 0; i < many; ++i) {
    MPI_Comm_split(MPI_COMM_WORLD, 0, i % 2 ? -rank_in(MPI_COMM_WORLD) : 0, &comms[i]);
    expect_sum(comms[i], "one of many");
  }
  for (int i = 0; i < many; ++i) {
    mine[i] = i + rank_in(comms[i]);
    MPI_Iallreduce(&mine[i], &sums[i], 1, MPI_INT, MPI_SUM, comms[i], &requests[i]);
  }
  MPI_Waitall(many, requests, MPI_STATUSES_IGNORE);
  const int ranks = size_of(MPI_COMM_WORLD);
  for (int i = 0; i < many; ++i) {
    if (sums[i] != ranks * i + ranks * (ranks - 1) / 2)
      fail("iallreduce", "on communicator %d of many: %d", i, sums[i]);
    MPI_Comm_free(&comms[i]);
  }
  free(comms);
  free(requests);
  free(mine);
  free(sums);
  return many;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct layout ints = {
      .name = "int", .type = MPI_INT, .named = 1, .items = 1, .size = {4}, .extent = 4};
  long cases = run_kinds(&ints);
  cases += run_between(&ints);
  cases += run_repeatedly((int)argument(argc, argv, "again", 200));
  cases += run_many((int)argument(argc, argv, "many", 300));
  return finish("communicators", cases);
}

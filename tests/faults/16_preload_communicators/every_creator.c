// SPDX-License-Identifier: Apache-2.0
//
// Tests every MPI call that creates a communicator. The first call on each new communicator is
// nonblocking, so nothing can be agreed inside it; blocking calls follow. All communicators exist
// at the same time, so that confusion between two is detected. Some are freed and created again, so
// that handles are reused.
#include "check.h"

enum { MAX_COMMS = 64, CALLS_IN_PROGRESS = 2 };

struct all {
  MPI_Comm comms[MAX_COMMS];  // MPI_COMM_NULL on ranks outside
  int n;
};

static void append(struct all* all, MPI_Comm comm) {
  if (all->n == MAX_COMMS) fail("this test", "there are more than %d communicators", MAX_COMMS);
  all->comms[all->n++] = comm;
}

static void create(struct all* all, MPI_Comm of) {
  const int rank = rank_in(of), ranks = size_of(of);
  MPI_Comm comm;
  MPI_Request request;
  MPI_Group group, part;
  MPI_Comm_dup(of, &comm);
  append(all, comm);
  MPI_Comm_dup_with_info(of, MPI_INFO_NULL, &comm);
  append(all, comm);
  MPI_Comm_idup(of, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  append(all, comm);
  MPI_Comm_split(of, rank % 2, -rank, &comm);
  append(all, comm);
  MPI_Comm_split(of, rank == 0 ? MPI_UNDEFINED : 1, rank, &comm);
  append(all, comm);
  MPI_Comm_split_type(of, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &comm);
  append(all, comm);
  MPI_Comm_group(of, &group);
  MPI_Group_range_incl(group, 1, (int[1][3]){{ranks - 1, 0, -1}}, &part);
  MPI_Comm_create(of, part, &comm);
  append(all, comm);
  MPI_Comm_create_group(of, part, 3, &comm);
  append(all, comm);
  MPI_Comm_create_group(of, part, 3, &comm);
  append(all, comm);
  MPI_Group_free(&part);
  // Two parts, made by two independent calls.
  const int half = ranks / 2, upper = rank >= half;
  if (upper)
    MPI_Group_range_incl(group, 1, (int[1][3]){{half, ranks - 1, 1}}, &part);
  else
    MPI_Group_range_incl(group, half > 0, (int[1][3]){{0, half - 1, 1}}, &part);
  MPI_Comm_create_group(of, part, 4, &comm);
  append(all, comm);
  MPI_Group_free(&part);
  MPI_Group_free(&group);
  MPI_Comm grid;
  MPI_Cart_create(of, 2, (int[]){ranks % 2 ? ranks : 2, ranks % 2 ? 1 : ranks / 2}, (int[]){0, 1}, 0, &grid);
  append(all, grid);
  MPI_Cart_sub(grid, (int[]){0, 1}, &comm);
  append(all, comm);
  int ends[4], edges[8];
  for (int r = 0; r < ranks; ++r) {
    ends[r] = r + 1;
    edges[r] = (r + 1) % ranks;
  }
  MPI_Graph_create(of, ranks, ends, edges, 0, &comm);
  append(all, comm);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, one = 1;
  MPI_Dist_graph_create(of, 1, &rank, &one, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &comm);
  append(all, comm);
  MPI_Dist_graph_create_adjacent(of, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &comm);
  append(all, comm);
  if (ranks < 2) return;
  MPI_Comm mine, between;
  MPI_Comm_split(of, upper, rank, &mine);
  MPI_Intercomm_create(mine, 0, of, upper ? 0 : half, 5, &between);
  MPI_Intercomm_merge(between, !upper, &comm);
  append(all, comm);
  MPI_Intercomm_merge(between, upper, &comm);
  append(all, comm);
  MPI_Comm_free(&between);
  MPI_Comm_free(&mine);
}

/// The sum on `comm` if every rank contributes its rank times `factor`.
static int sum_of(MPI_Comm comm, int factor) { return factor * size_of(comm) * (size_of(comm) - 1) / 2; }

/// Uses all communicators at once: the calls on each must not match those on another.
static long use_all(struct all* all) {
  MPI_Request requests[MAX_COMMS * CALLS_IN_PROGRESS];
  int given[MAX_COMMS][CALLS_IN_PROGRESS], sums[MAX_COMMS][CALLS_IN_PROGRESS];
  for (int i = 0; i < all->n; ++i)
    for (int k = 0; k < CALLS_IN_PROGRESS; ++k) {
      requests[i * CALLS_IN_PROGRESS + k] = MPI_REQUEST_NULL;
      if (all->comms[i] == MPI_COMM_NULL) continue;
      given[i][k] = rank_in(all->comms[i]) * (i + 1 + 100 * k);
      MPI_Iallreduce(&given[i][k], &sums[i][k], 1, MPI_INT, MPI_SUM, all->comms[i],
                     &requests[i * CALLS_IN_PROGRESS + k]);
    }
  MPI_Waitall(all->n * CALLS_IN_PROGRESS, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < all->n; ++i) {
    if (all->comms[i] == MPI_COMM_NULL) continue;
    for (int k = 0; k < CALLS_IN_PROGRESS; ++k)
      if (sums[i][k] != sum_of(all->comms[i], i + 1 + 100 * k))
        fail("iallreduce", "on communicator %d the sum %d is %d, should be %d", i, k, sums[i][k],
             sum_of(all->comms[i], i + 1 + 100 * k));
    int mine = rank_in(all->comms[i]) * (i + 7), sum = 0;
    MPI_Barrier(all->comms[i]);
    MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, all->comms[i]);
    if (sum != sum_of(all->comms[i], i + 7)) fail("allreduce", "on communicator %d the sum is %d", i, sum);
  }
  return all->n * 4;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct all all = {.n = 0};
  create(&all, MPI_COMM_WORLD);
  // Siblings created from parts have the same name, but no common member.
  create(&all, all.comms[3]);
  long cases = use_all(&all);
  for (int i = 0; i < all.n; i += 2)
    if (all.comms[i] != MPI_COMM_NULL) MPI_Comm_free(&all.comms[i]);
  for (int i = 0; i < all.n; i += 2) MPI_Comm_dup(i % 4 ? MPI_COMM_WORLD : MPI_COMM_SELF, &all.comms[i]);
  cases += use_all(&all);
  for (int i = 0; i < all.n; ++i)
    if (all.comms[i] != MPI_COMM_NULL) MPI_Comm_free(&all.comms[i]);
  use_all(&(struct all){.comms = {MPI_COMM_WORLD, MPI_COMM_SELF}, .n = 2});
  MPI_Barrier(MPI_COMM_WORLD);
  return finish("every_creator", cases);
}

// SPDX-License-Identifier: Apache-2.0
//
// wrong CASE: collective calls that differ between three ranks. If MPI runs them, they would block
// or give a wrong result. Checked mode ends the job; the line "the call returned" shows that it did
// not. Cases in which it must not end the job print FAILED on any other error.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, ranks;

static void bcast_and_barrier(void) {
  int x = 0;
  if (rank == 1)
    MPI_Barrier(MPI_COMM_WORLD);
  else
    MPI_Bcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD);
}

static void roots(void) {
  double x[4] = {0};
  MPI_Bcast(x, 4, MPI_DOUBLE, rank == 1, MPI_COMM_WORLD);
}

static void counts(void) {
  int x[8] = {0}, y[8];
  MPI_Allreduce(x, y, rank == 1 ? 4 : 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void operators(void) {
  int x = 1, y;
  MPI_Allreduce(&x, &y, 1, MPI_INT, rank == 1 ? MPI_MAX : MPI_SUM, MPI_COMM_WORLD);
}

static void elements(void) {
  int x = 1, y;
  MPI_Allreduce(&x, &y, 1, rank == 1 ? MPI_FLOAT : MPI_INT, MPI_SUM, MPI_COMM_WORLD);
}

static void begun(void) {
  int x = 1, y = 0;
  MPI_Request request;
  if (rank == 1)
    MPI_Ibcast(&x, 1, MPI_INT, 0, MPI_COMM_WORLD, &request);
  else
    MPI_Iallreduce(&x, &y, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void begun_and_blocking(void) {
  MPI_Request request;
  if (rank == 1) {
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

static void never_begun(void) {
  MPI_Request request;
  if (rank != 1) MPI_Ibarrier(MPI_COMM_WORLD, &request);
}

static void dup_and_barrier(void) {
  MPI_Comm comm;
  if (rank == 1)
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  else
    MPI_Barrier(MPI_COMM_WORLD);
}

static void split_and_dup(void) {
  MPI_Comm comm, another;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "mine");
  if (rank == 1)
    MPI_Comm_split(comm, 0, 0, &another);
  else
    MPI_Comm_dup(comm, &another);
}

static void window_and_barrier(void) {
  int x = 0;
  MPI_Win window;
  if (rank == 1)
    MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  else
    MPI_Barrier(MPI_COMM_WORLD);
}

static void fence_and_free(void) {
  int x = 0;
  MPI_Win window;
  MPI_Win_create(&x, sizeof x, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
  MPI_Win_fence(0, window);
  if (rank == 1)
    MPI_Win_free(&window);
  else
    MPI_Win_fence(0, window);
}

static void neighbors(void) {
  MPI_Comm ring;
  int x = 0, y[2];
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (int[]){1}, 0, &ring);
  if (rank == 1)
    MPI_Neighbor_allgather(&x, 1, MPI_INT, y, 1, MPI_INT, ring);
  else
    MPI_Bcast(&x, 1, MPI_INT, 0, ring);
}

static void begun_neighbors(void) {
  MPI_Comm ring;
  MPI_Request request;
  int x = 0, y[2];
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (int[]){1}, 0, &ring);
  if (rank == 1)
    MPI_Ineighbor_alltoall((int[2]){0, 1}, 1, MPI_INT, y, 1, MPI_INT, ring, &request);
  else
    MPI_Ibcast(&x, 1, MPI_INT, 0, ring, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void pairs(void) {
  int counts[16], places[16], x[64] = {0}, y[64];
  for (int r = 0; r < ranks; ++r) counts[r] = 1, places[r] = 4 * r;
  int sent[16];
  memcpy(sent, counts, sizeof sent);
  if (rank == 1) sent[0] = 3;
  MPI_Alltoallv(x, sent, places, MPI_INT, y, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void gathered(void) {
  int counts[16], places[16], x[4] = {0}, y[64];
  for (int r = 0; r < ranks; ++r) counts[r] = 1, places[r] = 4 * r;
  MPI_Gatherv(x, rank == 1 ? 2 : 1, MPI_INT, y, counts, places, MPI_INT, 0, MPI_COMM_WORLD);
}

static void gathered_counts(void) {
  int counts[16], places[16], x[4] = {0}, y[64];
  for (int r = 0; r < ranks; ++r) counts[r] = 1, places[r] = 4 * r;
  if (rank == 1) counts[0] = 2;
  MPI_Allgatherv(x, 1, MPI_INT, y, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void early_end(void) {
  if (rank != 1) MPI_Barrier(MPI_COMM_WORLD);
}

static void on_a_begun_duplicate(void) {
  MPI_Comm comm;
  MPI_Request request;
  int x = 0, y;
  MPI_Comm_idup(MPI_COMM_WORLD, &comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == 1)
    MPI_Scan(&x, &y, 1, MPI_INT, MPI_SUM, comm);
  else
    MPI_Reduce(&x, &y, 1, MPI_INT, MPI_SUM, 0, comm);
}

static void file_and_barrier(void) {
  MPI_File file;
  if (rank == 1)
    MPI_File_open(MPI_COMM_WORLD, "/dev/null", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
  else
    MPI_Barrier(MPI_COMM_WORLD);
}

static void disconnect_and_barrier(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, "mine");
  if (rank == 1)
    MPI_Comm_disconnect(&comm);
  else
    MPI_Barrier(comm);
}

// Rank 1 sends more than it expects from itself, which no other rank can see.
static int gather_own_block(void) {
  int counts[16], places[16], x[4] = {0}, y[64];
  for (int r = 0; r < ranks; ++r) counts[r] = 1, places[r] = 4 * r;
  return MPI_Allgatherv(x, rank == 1 ? 2 : 1, MPI_INT, y, counts, places, MPI_INT, MPI_COMM_WORLD);
}

static void own_block(void) { gather_own_block(); }

static void require(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "FAILED rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 3);
}

static void own_block_returned(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  require(gather_own_block() != MPI_SUCCESS, "the call has succeeded");
  require(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "a barrier after it has failed");
}

// In a reduce_scatter some ranks may be in place and others not.
static void in_place_of_some(void) {
  int counts[16] = {0}, sent[16] = {1}, received[16] = {1};
  counts[0] = 1;
  MPI_Reduce_scatter(rank == 1 ? sent : MPI_IN_PLACE, received, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  require(rank != 0 || received[0] == ranks, "the sum");
}

static void other_communicators(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(rank == 1 ? comm : MPI_COMM_WORLD);
}

static const struct {
  const char* name;
  void (*run)(void);
} cases[] = {{"bcast_and_barrier", bcast_and_barrier},
             {"roots", roots},
             {"counts", counts},
             {"operators", operators},
             {"elements", elements},
             {"begun", begun},
             {"begun_and_blocking", begun_and_blocking},
             {"never_begun", never_begun},
             {"dup_and_barrier", dup_and_barrier},
             {"split_and_dup", split_and_dup},
             {"window_and_barrier", window_and_barrier},
             {"fence_and_free", fence_and_free},
             {"neighbors", neighbors},
             {"begun_neighbors", begun_neighbors},
             {"pairs", pairs},
             {"gathered", gathered},
             {"gathered_counts", gathered_counts},
             {"early_end", early_end},
             {"on_a_begun_duplicate", on_a_begun_duplicate},
             {"file_and_barrier", file_and_barrier},
             {"disconnect_and_barrier", disconnect_and_barrier},
             {"own_block", own_block},
             {"own_block_returned", own_block_returned},
             {"in_place_of_some", in_place_of_some},
             {"other_communicators", other_communicators}};

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; ++i)
    if (argc == 2 && strcmp(argv[1], cases[i].name) == 0) {
      cases[i].run();
      MPI_Finalize();
      printf("the call returned\n");
      return 0;
    }
  fprintf(stderr, "wrong: there is no such case\n");
  MPI_Abort(MPI_COMM_WORLD, 3);
  return 3;
}

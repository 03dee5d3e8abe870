// SPDX-License-Identifier: Apache-2.0
//
// Tests random collectives with random datatypes and operators on random communicators. Some are in
// progress while others begin; they complete in random order, with messages between them. seed=N
// and calls=N select the sequence and its length. All ranks draw the same sequence.
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "known_faults.h"

enum { UNDER_WAY = 8, COMMS = 5 };

struct draw {
  unsigned long long state;
};

static int below(struct draw* d, int n) {
  d->state = d->state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (int)((d->state >> 33) % (unsigned)n);
}

static void int_value(char* element, int rank, long index) {
  const int v = (int)((rank + 1) * 31 + index);
  memcpy(element, &v, sizeof v);
}

static void int_sum(const char* left, const char* right, char* result) {
  int a, b;
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  a += b;
  memcpy(result, &a, sizeof a);
}

/// Composition of affine maps x -> ax + b modulo a prime: the order matters.
static void map_value(char* element, int rank, long index) {
  const int v[2] = {rank + 2, (int)(index % 97) + rank};
  memcpy(element, v, sizeof v);
}

static void map_combine(const char* left, const char* right, char* result) {
  int a[2], b[2];
  memcpy(a, left, sizeof a);
  memcpy(b, right, sizeof b);
  const int c[2] = {a[0] * b[0] % 10007, (a[1] * b[0] + b[1]) % 10007};
  memcpy(result, c, sizeof c);
}

static void map_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) {
    char result[8];
    map_combine((char*)in + 8 * i, (char*)inout + 8 * i, result);
    memcpy((char*)inout + 8 * i, result, sizeof result);
  }
}

/// Everything that calls are drawn from.
struct world {
  MPI_Comm comms[COMMS];
  struct layout layouts[MAX_LAYOUTS];
  int layouts_n;
  struct algebra algebras[2];
};

/// Draws a call; returns 0 if this call must not be made.
static int draw_job(struct draw* d, const struct world* w, struct job* job, int nonblocking, int all) {
  const MPI_Comm comm = w->comms[below(d, COMMS)];
  const enum collective which = (enum collective)below(d, COLLECTIVES);
  // Communicators of different sizes have different roots, but the same draws.
  const int root = below(d, 840), units = below(d, 4) == 0 ? below(d, 3000) : below(d, 20),
            in_place = below(d, 3) == 0;
  const int gaps = below(d, 2), absolute = below(d, 5) == 0, send = below(d, w->layouts_n),
            recv = below(d, w->layouts_n);
  const int algebra = below(d, 2);
  if (comm == MPI_COMM_NULL) return 0;
  const int ranks = size_of(comm);
  if (reduces(which)) {
    const struct reduction r = {comm, &w->algebras[algebra], units, root % ranks, in_place};
    if (!all && reduction_has_known_fault(which, &r, nonblocking)) return 0;
    make_reduction(job, which, &r);
    return 1;
  }
  const int same =
      in_place || which == BCAST || (w->layouts[send].items == 0) != (w->layouts[recv].items == 0);
  const struct move m = {.comm = comm,
                         .send = &w->layouts[same ? recv : send],
                         .recv = &w->layouts[recv],
                         .units = units,
                         .root = root % ranks,
                         .in_place = in_place && may_be_in_place(which),
                         .gaps = gaps,
                         .absolute = absolute && which != BARRIER,
                         .seed = (unsigned)(root + units)};
  if (!all && move_has_known_fault(which, &m, nonblocking)) return 0;
  make_move(job, which, &m);
  return 1;
}

static long run(struct draw* d, const struct world* w, long calls, int all) {
  struct job jobs[UNDER_WAY];
  int used[UNDER_WAY] = {0};
  long cases = 0;
  const int rank = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  for (long i = 0; i < calls; ++i) {
    const int slot = below(d, UNDER_WAY), nonblocking = below(d, 3) > 0;
    if (used[slot]) complete(&jobs[slot]);
    used[slot] = draw_job(d, w, &jobs[slot], nonblocking, all);
    if (used[slot]) {
      start(&jobs[slot], nonblocking);
      ++cases;
      if (!nonblocking) {
        complete(&jobs[slot]);
        used[slot] = 0;
      }
    }
    const int other = below(d, UNDER_WAY), tests = below(d, 3), completes = below(d, 3) == 0;
    if (completes && used[other]) {
      int flag = 0;
      for (int t = 0; t < tests && !flag; ++t) MPI_Test(&jobs[other].request, &flag, MPI_STATUS_IGNORE);
      complete(&jobs[other]);
      used[other] = 0;
    }
    if (below(d, 4) == 0) {
      const int by = 1 + below(d, 7), from = (rank + ranks * 7 - by) % ranks;
      int got = -1;
      MPI_Sendrecv(&rank, 1, MPI_INT, (rank + by) % ranks, by, &got, 1, MPI_INT, MPI_ANY_SOURCE, by,
                   MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      if (got != from) fail("MPI_Sendrecv", "between collectives: from %d, should be %d", got, from);
    }
  }
  for (int i = 0; i < UNDER_WAY; ++i) {
    if (used[i]) complete(&jobs[i]);
  }
  return cases;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD);
  struct draw d = {(unsigned long long)argument(argc, argv, "seed", 1) * 0x9E3779B97F4A7C15ULL};
  struct world w;
  w.comms[0] = MPI_COMM_WORLD;
  MPI_Comm_dup(MPI_COMM_WORLD, &w.comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &w.comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank == 0 ? MPI_UNDEFINED : 0, rank, &w.comms[3]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &w.comms[4]);
  // Before the first blocking call on a communicator, the library may leave nonblocking calls to
  // the MPI.
  for (int i = 1; i < COMMS; ++i) {
    if (w.comms[i] != MPI_COMM_NULL) MPI_Barrier(w.comms[i]);
  }
  w.layouts_n = int_layouts(w.layouts);
  const struct layout ints = {
      .name = "int", .type = MPI_INT, .named = 1, .items = 1, .size = {4}, .extent = 4};
  struct layout maps = {.name = "maps", .items = 2, .offset = {0, 4}, .size = {4, 4}, .extent = 8};
  MPI_Type_contiguous(2, MPI_INT, &maps.type);
  MPI_Type_commit(&maps.type);
  MPI_Op op;
  MPI_Op_create(map_op, 0, &op);
  w.algebras[0] = (struct algebra){"sum", &ints, MPI_SUM, 4, int_value, int_sum};
  w.algebras[1] = (struct algebra){"maps", &maps, op, 8, map_value, map_combine};
  const long cases = run(&d, &w, argument(argc, argv, "calls", 1000), argument(argc, argv, "all", 0) != 0);
  MPI_Op_free(&op);
  MPI_Type_free(&maps.type);
  free_layouts(w.layouts, w.layouts_n);
  for (int i = 1; i < COMMS; ++i) {
    if (w.comms[i] != MPI_COMM_NULL) MPI_Comm_free(&w.comms[i]);
  }
  return finish("random_calls", cases);
}

// SPDX-License-Identifier: Apache-2.0
//
// Tests MPI_THREAD_MULTIPLE: each thread of a rank calls blocking and nonblocking collectives on
// its own communicator, in another order than the other threads.
#include <pthread.h>

#include "check.h"
#include "known_faults.h"

enum { THREADS = 3, UNDER_WAY = 6 };

static void value(char* element, int rank, long index) {
  *(int*)(void*)element = (rank + 1) * 13 + (int)index;
}

static void sum(const char* left, const char* right, char* result) {
  *(int*)(void*)result = *(const int*)(const void*)left + *(const int*)(const void*)right;
}

struct thread {
  int number, rounds;
  MPI_Comm comm;
  long cases;
};

static void make(struct job* job, const struct thread* t, const struct algebra* algebra, int step) {
  static const enum collective some[] = {
      BCAST,   ALLREDUCE, ALLTOALL, GATHER,  REDUCE,    ALLGATHER,           SCAN,
      BARRIER, SCATTER,   EXSCAN,   GATHERV, ALLTOALLV, REDUCE_SCATTER_BLOCK};
  const int n = (int)(sizeof some / sizeof some[0]);
  const enum collective which = some[(step * (t->number + 1) + t->number * 5) % n];
  const int ranks = size_of(t->comm);
  if (which < REDUCE) {
    const struct move move = {.comm = t->comm,
                              .send = algebra->layout,
                              .recv = algebra->layout,
                              .units = 1 + step * 37 % 900,
                              .root = step % ranks,
                              .seed = (unsigned)(t->number * 100 + step)};
    make_move(job, which, &move);
  } else {
    const struct reduction reduction = {t->comm, algebra, 1 + step * 37 % 900, step % ranks, 0};
    make_reduction(job, which, &reduction);
  }
}

static void* run(void* data) {
  struct thread* t = data;
  const struct layout ints = {
      .name = "int", .type = MPI_INT, .named = 1, .items = 1, .size = {4}, .extent = 4};
  const struct algebra algebra = {"sum", &ints, MPI_SUM, 4, value, sum};
  struct job jobs[UNDER_WAY];
  for (int round = 0; round < t->rounds; ++round) {
    for (int i = 0; i < UNDER_WAY; ++i) {
      make(&jobs[i], t, &algebra, round * UNDER_WAY + i);
      start(&jobs[i], (round + t->number) % 2);
      ++t->cases;
    }
    for (int i = 0; i < UNDER_WAY; ++i) complete(&jobs[(i * 5 + 2) % UNDER_WAY]);
  }
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) fail("MPI_Init_thread", "it provides %d", provided);
  struct thread threads[THREADS];
  pthread_t handles[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    threads[i] = (struct thread){.number = i, .rounds = (int)argument(argc, argv, "rounds", 10)};
    MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm);
  }
  for (int i = 0; i < THREADS; ++i) pthread_create(&handles[i], NULL, run, &threads[i]);
  long cases = 0;
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(handles[i], NULL);
    MPI_Comm_free(&threads[i].comm);
    cases += threads[i].cases;
  }
  return finish("threads", cases);
}

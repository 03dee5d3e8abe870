// SPDX-License-Identifier: Apache-2.0
//
// MPI_THREAD_MULTIPLE: each of three threads creates communicators of the world with its own tag,
// of all ranks or all but the first. The threads call collectives on them at the same time. No
// thread waits for another, and each rank starts its threads in another order.
#include <pthread.h>

#include "check.h"

enum { THREADS = 3 };

struct thread {
  int number, rounds;
  long cases;
};

static void* run(void* given) {
  struct thread* t = given;
  const int rank = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  MPI_Group world, some;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int round = 0; round < t->rounds; ++round) {
    const int first = ranks > 2 && (round + t->number) % 3 == 2;
    if (rank < first) continue;
    MPI_Comm comm;
    MPI_Group_range_incl(world, 1, (int[1][3]){{first, ranks - 1, 1}}, &some);
    MPI_Comm_create_group(MPI_COMM_WORLD, some, t->number, &comm);
    MPI_Group_free(&some);
    const int mine = rank_in(comm), size = size_of(comm), salt = 100 * t->number + round;
    int value = mine + salt, sum = 0;
    MPI_Request request;
    if (round % 2 == 0) MPI_Barrier(comm);
    MPI_Iallreduce(&value, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Barrier(comm);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (sum != size * salt + size * (size - 1) / 2)
      fail("iallreduce", "thread %d, round %d: the sum is %d", t->number, round, sum);
    int root = mine == size - 1 ? salt : -1;
    MPI_Bcast(&root, 1, MPI_INT, size - 1, comm);
    if (root != salt) fail("bcast", "thread %d, round %d: received %d", t->number, round, root);
    MPI_Comm_free(&comm);
    t->cases += 4;
  }
  MPI_Group_free(&world);
  return NULL;
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  if (provided < MPI_THREAD_MULTIPLE) fail("MPI_Init_thread", "it provides %d", provided);
  const int rank = rank_in(MPI_COMM_WORLD);
  struct thread threads[THREADS];
  pthread_t handles[THREADS];
  for (int i = 0; i < THREADS; ++i)
    threads[i] = (struct thread){.number = i, .rounds = (int)argument(argc, argv, "rounds", 6)};
  for (int i = 0; i < THREADS; ++i) {
    const int k = (i + rank) % THREADS;
    pthread_create(&handles[k], NULL, run, &threads[k]);
  }
  long cases = 0;
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(handles[i], NULL);
    cases += threads[i].cases;
  }
  return finish("threads_create", cases);
}

// SPDX-License-Identifier: Apache-2.0
//
// Tests that a collective in progress continues while its rank is in any other MPI call. Rank 0
// starts one and then waits for a message, which the others send only after the collective has
// ended for them.
#include <stdlib.h>

#include "check.h"
#include "moving_calls.h"

enum { TAG = 23 };
enum holder {
  RECV,
  SSEND,
  SENDRECV,
  PROBE,
  IPROBE,
  MPROBE,
  WAIT,
  TEST,
  WAITANY,
  BARRIER_ELSEWHERE,
  ALLREDUCE_ELSEWHERE,
  DUP,
  HOLDERS
};

static const char* const holders[] = {"MPI_Recv",
                                      "MPI_Ssend",
                                      "MPI_Sendrecv",
                                      "MPI_Probe",
                                      "MPI_Iprobe",
                                      "MPI_Mprobe",
                                      "MPI_Wait",
                                      "MPI_Test",
                                      "MPI_Waitany",
                                      "MPI_Barrier elsewhere",
                                      "MPI_Allreduce elsewhere",
                                      "MPI_Comm_dup"};

/// The call in which rank 0 waits for rank `peer` while its collective is in progress.
static void hold(enum holder holder, int peer, MPI_Comm comm, MPI_Comm elsewhere) {
  int got = -1, sent = 5, flag = 0, index = 0, sum = 0;
  MPI_Request request;
  MPI_Message message;
  MPI_Comm made;
  switch (holder) {
    case RECV:
      MPI_Recv(&got, 1, MPI_INT, peer, TAG, comm, MPI_STATUS_IGNORE);
      break;
    case SSEND:
      MPI_Ssend(&sent, 1, MPI_INT, peer, TAG, comm);
      return;
    case SENDRECV:
      MPI_Sendrecv(&sent, 1, MPI_INT, peer, TAG, &got, 1, MPI_INT, peer, TAG, comm, MPI_STATUS_IGNORE);
      break;
    case PROBE:
      MPI_Probe(peer, TAG, comm, MPI_STATUS_IGNORE);
      MPI_Recv(&got, 1, MPI_INT, peer, TAG, comm, MPI_STATUS_IGNORE);
      break;
    case IPROBE:
      while (!flag) MPI_Iprobe(peer, TAG, comm, &flag, MPI_STATUS_IGNORE);
      MPI_Recv(&got, 1, MPI_INT, peer, TAG, comm, MPI_STATUS_IGNORE);
      break;
    case MPROBE:
      MPI_Mprobe(peer, TAG, comm, &message, MPI_STATUS_IGNORE);
      MPI_Mrecv(&got, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
      break;
    case WAIT:
    case TEST:
    case WAITANY:
      MPI_Irecv(&got, 1, MPI_INT, peer, TAG, comm, &request);
      if (holder == WAIT) MPI_Wait(&request, MPI_STATUS_IGNORE);
      while (holder == TEST && !flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      if (holder == WAITANY) MPI_Waitany(1, &request, &index, MPI_STATUS_IGNORE);
      break;
    case BARRIER_ELSEWHERE:
      MPI_Barrier(elsewhere);
      return;
    case ALLREDUCE_ELSEWHERE:
      MPI_Allreduce(&sent, &sum, 1, MPI_INT, MPI_SUM, elsewhere);
      if (sum != 5 * size_of(elsewhere)) fail("allreduce", "elsewhere: the sum is %d", sum);
      return;
    case DUP:
      MPI_Comm_dup(elsewhere, &made);
      MPI_Comm_free(&made);
      return;
    case HOLDERS:
      return;
  }
  if (got != peer) fail(holders[holder], "from rank %d it got %d", peer, got);
}

/// Another rank calls this function after the end of its collective.
static void release(enum holder holder, int rank, MPI_Comm comm, MPI_Comm elsewhere) {
  int got = 0;
  if (holder == SSEND) {
    MPI_Recv(&got, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
  } else if (holder == SENDRECV) {
    MPI_Sendrecv(&rank, 1, MPI_INT, 0, TAG, &got, 1, MPI_INT, 0, TAG, comm, MPI_STATUS_IGNORE);
  } else if (holder >= BARRIER_ELSEWHERE) {
    hold(holder, 0, comm, elsewhere);
  } else {
    MPI_Send(&rank, 1, MPI_INT, 0, TAG, comm);
  }
}

/// Sparse exchange: a receiver does not know the number of senders. Each rank must receive all that
/// is sent to it, and nothing else.
static void exchange_sparsely(MPI_Comm comm, int round) {
  const int rank = rank_in(comm), ranks = size_of(comm);
  int expected = 0, received = 0, barrier_begun = 0, done = 0;
  int* values = checked_malloc((size_t)ranks * sizeof(int));
  MPI_Request* sends = checked_malloc((size_t)ranks * sizeof(MPI_Request));
  int n = 0;
  for (int peer = 0; peer < ranks; ++peer) {
    values[peer] = rank * 100 + round;
    if ((rank * 5 + peer * 3 + round) % 2 == 0)
      MPI_Issend(&values[peer], 1, MPI_INT, peer, TAG + 1, comm, &sends[n++]);
    if ((peer * 5 + rank * 3 + round) % 2 == 0) ++expected;
  }
  MPI_Request barrier = MPI_REQUEST_NULL;
  while (!done) {
    int flag = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
    if (flag) {
      int got = -1;
      MPI_Recv(&got, 1, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, comm, MPI_STATUS_IGNORE);
      if (status.MPI_TAG != TAG + 1 || got != status.MPI_SOURCE * 100 + round) {
        fail("ibarrier", "sparse exchange: got %d from %d with tag %d", got, status.MPI_SOURCE,
             status.MPI_TAG);
      }
      ++received;
    }
    if (barrier_begun) {
      MPI_Test(&barrier, &done, MPI_STATUS_IGNORE);
    } else {
      MPI_Testall(n, sends, &flag, MPI_STATUSES_IGNORE);
      if (flag) {
        MPI_Ibarrier(comm, &barrier);
        barrier_begun = 1;
      }
    }
  }
  if (received != expected)
    fail("ibarrier", "sparse exchange: %d messages, should be %d", received, expected);
  free(values);
  free(sends);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  struct layout layouts[MAX_LAYOUTS];
  const int n = int_layouts(layouts);
  MPI_Comm comm, elsewhere;
  MPI_Comm_dup(MPI_COMM_WORLD, &elsewhere);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Barrier(comm);
  MPI_Barrier(elsewhere);
  // Collectives in which every rank needs rank 0.
  static const enum collective needing[] = {BARRIER, BCAST, ALLGATHER, ALLTOALL};
  static const long sizes[] = {1, 40000};
  long cases = 0;
  for (enum holder holder = 0; holder < HOLDERS; ++holder) {
    for (int c = 0; c < 4; ++c) {
      for (int s = 0; s < 2; ++s) {
        struct job job;
        const struct move move = {.comm = c % 2 == 0 ? MPI_COMM_WORLD : comm,
                                  .send = &layouts[0],
                                  .recv = &layouts[0],
                                  .units = sizes[s]};
        make_move(&job, needing[c], &move);
        start(&job, 1);
        if (rank == 0 && holder >= BARRIER_ELSEWHERE) hold(holder, 0, comm, elsewhere);
        if (rank == 0 && holder < BARRIER_ELSEWHERE) {
          for (int peer = 1; peer < ranks; ++peer) hold(holder, peer, comm, elsewhere);
        }
        complete(&job);
        if (rank > 0) release(holder, rank, comm, elsewhere);
        ++cases;
      }
    }
  }
  for (int round = 0; round < 20; ++round, ++cases)
    exchange_sparsely(round % 2 ? comm : MPI_COMM_WORLD, round);
  MPI_Comm_free(&comm);
  MPI_Comm_free(&elsewhere);
  free_layouts(layouts, n);
  return finish("progress", cases);
}

// SPDX-License-Identifier: Apache-2.0
//
// Tests requests of nonblocking collectives among those of MPI: messages, persistent and null
// requests. Every MPI function that completes requests is used, out of order, after the arguments
// of the calls have been freed.
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "known_faults.h"

enum { JOBS = 8, MESSAGES = 3, ALL = JOBS + MESSAGES + 1, TAG = 17 };
enum way { WAIT, WAITALL, WAITANY, WAITSOME, TEST, TESTALL, TESTANY, TESTSOME, GET_STATUS, WAYS };

static const char* const ways[] = {"MPI_Wait",     "MPI_Waitall",  "MPI_Waitany",
                                   "MPI_Waitsome", "MPI_Test",     "MPI_Testall",
                                   "MPI_Testany",  "MPI_Testsome", "MPI_Request_get_status"};

/// All requests in progress: collectives, then an isend, an irecv and a persistent receive, then a
/// null request.
struct all {
  struct job jobs[JOBS];
  MPI_Request requests[ALL];
  int done[ALL];
  int sent[2], received[2];
  int from, to;
};

static void check_empty(const MPI_Status* status, const char* way) {
  int count = -1;
  MPI_Get_count(status, MPI_BYTE, &count);
  if (status->MPI_SOURCE != MPI_ANY_SOURCE || status->MPI_TAG != MPI_ANY_TAG || count != 0) {
    fail(way, "the status of a null request is not empty: source %d, tag %d, count %d", status->MPI_SOURCE,
         status->MPI_TAG, count);
  }
}

/// Records that request i has completed, with that status if it is not null.
static void completed(struct all* a, int i, const MPI_Status* status, const char* way) {
  if (i < 0 || i >= ALL - 1) fail(way, "it reports that request %d of %d completed", i, ALL - 1);
  if (a->done[i]++ > 0) fail(way, "it reports twice that request %d completed", i);
  const int persistent = i == JOBS + 2;
  if (!persistent && a->requests[i] != MPI_REQUEST_NULL) fail(way, "request %d completed and is not null", i);
  if (persistent && a->requests[i] == MPI_REQUEST_NULL) fail(way, "a persistent request has become null");
  if (i < JOBS) {
    check(&a->jobs[i]);
    drop(&a->jobs[i]);
    return;
  }
  if (i == JOBS) return;  // a send
  const int which = i - JOBS - 1;
  if (a->received[which] != a->from * 10 + which) {
    fail(way, "message %d from %d holds %d", which, a->from, a->received[which]);
  }
  int count = -1;
  if (status != NULL) MPI_Get_count(status, MPI_INT, &count);
  if (status != NULL && (status->MPI_SOURCE != a->from || status->MPI_TAG != TAG + which || count != 1)) {
    fail(way, "the status of message %d has source %d, tag %d, count %d", which, status->MPI_SOURCE,
         status->MPI_TAG, count);
  }
}

static void start_all(struct all* a, const struct layout* layouts, const struct algebra* algebra,
                      MPI_Comm comm) {
  memset(a, 0, sizeof *a);
  const int rank = rank_in(comm), ranks = size_of(comm);
  a->to = (rank + 1) % ranks;
  a->from = (rank + ranks - 1) % ranks;
  a->sent[0] = rank * 10;
  a->sent[1] = rank * 10 + 1;
  MPI_Recv_init(&a->received[1], 1, MPI_INT, a->from, TAG + 1, comm, &a->requests[JOBS + 2]);
  MPI_Start(&a->requests[JOBS + 2]);
  struct move moves[] = {{comm, &layouts[0], &layouts[0], 100, 0, 0, 0, 0, 1},
                         {comm, &layouts[2], &layouts[1], 20, ranks - 1, 0, 0, 1, 2},
                         {comm, &layouts[4], &layouts[4], 30, 0, 0, 1, 0, 3},
                         {comm, &layouts[0], &layouts[6], 5, 0, 0, 0, 0, 4}};
  const struct reduction sum = {comm, algebra, 2000, 0, 0};
  if (move_has_known_fault(ALLGATHERV, &moves[2], 1)) moves[2].gaps = 0;
  make_move(&a->jobs[0], BCAST, &moves[0]);
  make_move(&a->jobs[1], GATHER, &moves[1]);
  make_move(&a->jobs[2], ALLGATHERV, &moves[2]);
  make_move(&a->jobs[3], ALLTOALL, &moves[3]);
  make_reduction(&a->jobs[4], ALLREDUCE, &sum);
  make_move(&a->jobs[5], BARRIER, &moves[0]);
  make_reduction(&a->jobs[6], SCAN, &sum);
  make_reduction(&a->jobs[7], REDUCE_SCATTER_BLOCK, &sum);
  for (int i = 0; i < JOBS; ++i) {
    if (i == 4) MPI_Isend(&a->sent[0], 1, MPI_INT, a->to, TAG, comm, &a->requests[JOBS]);
    if (i == 5) MPI_Irecv(&a->received[0], 1, MPI_INT, a->from, TAG, comm, &a->requests[JOBS + 1]);
    start(&a->jobs[i], 1);
    if (a->jobs[i].request == MPI_REQUEST_NULL)
      fail(name_of(a->jobs[i].which), "nonblocking: the request is null");
    a->requests[i] = a->jobs[i].request;
  }
  a->requests[ALL - 1] = MPI_REQUEST_NULL;
  MPI_Send(&a->sent[1], 1, MPI_INT, a->to, TAG + 1, comm);
}

static void complete_one(struct all* a, int i, enum way way) {
  MPI_Status status;
  int flag = 0;
  if (way == WAIT) {
    MPI_Wait(&a->requests[i], &status);
  } else if (way == TEST) {
    while (!flag) MPI_Test(&a->requests[i], &flag, &status);
  } else {
    while (!flag) MPI_Request_get_status(a->requests[i], &flag, &status);
    // The function does not free the request: a second call must give the same result.
    if (a->requests[i] == MPI_REQUEST_NULL && i != ALL - 1) fail(ways[way], "request %d has become null", i);
    MPI_Request_get_status(a->requests[i], &flag, MPI_STATUS_IGNORE);
    if (!flag) fail(ways[way], "request %d was complete and is not any more", i);
    if (i == ALL - 1) check_empty(&status, ways[way]);
    MPI_Wait(&a->requests[i], &status);
  }
  if (i == ALL - 1) {
    check_empty(&status, ways[way]);
  } else {
    completed(a, i, &status, ways[way]);
  }
}

static void complete_all(struct all* a, enum way way, int with_statuses) {
  MPI_Status statuses[ALL];
  int indices[ALL], n = 0, flag = 0, left = ALL - 1;
  MPI_Status* status_argument = with_statuses ? statuses : MPI_STATUSES_IGNORE;
  MPI_Status* one = with_statuses ? statuses : MPI_STATUS_IGNORE;
  switch (way) {
    case WAITALL:
    case TESTALL:
      if (way == WAITALL) MPI_Waitall(ALL, a->requests, status_argument);
      while (way == TESTALL && !flag) MPI_Testall(ALL, a->requests, &flag, status_argument);
      for (int i = 0; i < ALL - 1; ++i) completed(a, i, with_statuses ? &statuses[i] : NULL, ways[way]);
      if (with_statuses) check_empty(&statuses[ALL - 1], ways[way]);
      break;
    case WAITANY:
    case TESTANY:
      for (; left > 0; --left) {
        int i = MPI_UNDEFINED;
        flag = 0;
        if (way == WAITANY) MPI_Waitany(ALL, a->requests, &i, one);
        while (way == TESTANY && !flag) MPI_Testany(ALL, a->requests, &i, &flag, one);
        completed(a, i, with_statuses ? statuses : NULL, ways[way]);
      }
      break;
    case WAITSOME:
    case TESTSOME:
      while (left > 0) {
        if (way == WAITSOME) MPI_Waitsome(ALL, a->requests, &n, indices, status_argument);
        if (way == TESTSOME) MPI_Testsome(ALL, a->requests, &n, indices, status_argument);
        if (n == MPI_UNDEFINED || (way == WAITSOME && n < 1) || n > left)
          fail(ways[way], "it reports that %d of %d completed", n, left);
        for (int i = 0; i < n; ++i) completed(a, indices[i], with_statuses ? &statuses[i] : NULL, ways[way]);
        left -= n;
      }
      break;
    default:
      // In reverse order: a receive before the collectives, and these in reverse order of their
      // starts.
      for (int i = ALL - 1; i >= 0; --i) complete_one(a, i, way);
      break;
  }
}

/// No active request is left: functions that return a completed request must return none.
static void check_none(struct all* a) {
  int index = 0, n = 0, flag = 0, indices[ALL];
  MPI_Status status;
  MPI_Waitany(ALL, a->requests, &index, &status);
  if (index != MPI_UNDEFINED) fail("MPI_Waitany", "with no request active it reports %d", index);
  check_empty(&status, "MPI_Waitany");
  MPI_Testany(ALL, a->requests, &index, &flag, &status);
  if (!flag || index != MPI_UNDEFINED)
    fail("MPI_Testany", "with no request active it reports %d, flag %d", index, flag);
  MPI_Waitsome(ALL, a->requests, &n, indices, MPI_STATUSES_IGNORE);
  if (n != MPI_UNDEFINED) fail("MPI_Waitsome", "with no request active it reports %d", n);
  MPI_Testsome(ALL, a->requests, &n, indices, MPI_STATUSES_IGNORE);
  if (n != MPI_UNDEFINED) fail("MPI_Testsome", "with no request active it reports %d", n);
  MPI_Testall(ALL, a->requests, &flag, MPI_STATUSES_IGNORE);
  if (!flag) fail("MPI_Testall", "with no request active it reports that some are");
  MPI_Waitall(ALL, a->requests, MPI_STATUSES_IGNORE);
  MPI_Request_free(&a->requests[JOBS + 2]);
}

static void value(char* element, int rank, long index) {
  const long v = (rank + 1) * 1000 + index;
  memcpy(element, &v, sizeof v);
}

static void sum(const char* left, const char* right, char* result) {
  long a, b;
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  a += b;
  memcpy(result, &a, sizeof a);
}

static void sum_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((long*)inout)[i] += ((long*)in)[i];
}

/// The datatype, operator and communicator are freed while calls with them are in progress. Open
/// MPI 4.1.4 itself crashes if the communicator is freed.
static long run_freed(MPI_Comm base, int also_comms) {
  enum { ROUNDS = 10 };
  struct job jobs[ROUNDS];
  MPI_Comm comms[ROUNDS];
  for (int i = 0; i < ROUNDS; ++i) {
    MPI_Comm* comm = &comms[i];
    MPI_Datatype type;
    MPI_Op op;
    MPI_Comm_dup(base, comm);
    MPI_Barrier(*comm);  // the communicator has seen a blocking call
    MPI_Type_contiguous(1, MPI_LONG, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(sum_op, i % 2, &op);
    const struct layout own = {.name = "freed", .type = type, .items = 1, .size = {8}, .extent = 8};
    const struct algebra algebra = {"freed", &own, op, 8, value, sum};
    const struct reduction r = {*comm, &algebra, 1 + i * 300, 0, 0};
    make_reduction(&jobs[i], i % 3 == 0 ? REDUCE : ALLREDUCE, &r);
    start(&jobs[i], 1);
    MPI_Type_free(&type);
    MPI_Op_free(&op);
    if (also_comms) MPI_Comm_free(comm);
  }
  for (int i = 0; i < ROUNDS; ++i) complete(&jobs[(i * 7) % ROUNDS]);
  for (int i = 0; i < ROUNDS && !also_comms; ++i) MPI_Comm_free(&comms[i]);
  return ROUNDS;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  struct layout layouts[MAX_LAYOUTS];
  const int n = int_layouts(layouts);
  const struct layout longs = {
      .name = "long", .type = MPI_LONG, .named = 1, .items = 1, .size = {8}, .extent = 8};
  const struct algebra algebra = {"sum", &longs, MPI_SUM, 8, value, sum};
  static struct all a;
  long cases = 0;
  MPI_Comm other;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank_in(MPI_COMM_WORLD), &other);
  MPI_Barrier(other);
  for (enum way way = WAIT; way < WAYS; ++way) {
    for (int with_statuses = 0; with_statuses < 2; ++with_statuses) {
      for (int on_other = 0; on_other < 2; ++on_other) {
        start_all(&a, layouts, &algebra, on_other ? other : MPI_COMM_WORLD);
        complete_all(&a, way, with_statuses);
        check_none(&a);
        ++cases;
      }
    }
  }
#ifdef OPEN_MPI
  const int also_comms = argument(argc, argv, "all", 0) != 0;
#else
  const int also_comms = 1;
#endif
  cases += run_freed(other, also_comms);
  MPI_Comm_free(&other);
  free_layouts(layouts, n);
  return finish("requests", cases);
}

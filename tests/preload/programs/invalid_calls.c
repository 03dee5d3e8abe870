// SPDX-License-Identifier: Apache-2.0
//
// Tests invalid calls: the error class on every rank, with MPI_ERRORS_RETURN and with a handler of
// the program. The output must not depend on what serves the calls. With fatal=N the program makes
// the invalid call N under the default handler, and the call must not return.
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "check.h"

enum { MAX_CALLS = 64, COUNT = 4 };

struct invalid_call {
  const char* name;
  enum collective which;
  struct args args;
};

struct invalid_calls {
  struct invalid_call all[MAX_CALLS];
  int n;
  int send[64], recv[64], counts[16], displs[16], negative[16];
  MPI_Datatype uncommitted, pair;
};

static struct invalid_call* add(struct invalid_calls* w, const char* name, enum collective which,
                                MPI_Comm comm) {
  struct invalid_call* one = &w->all[w->n++];
  *one = (struct invalid_call){.name = name,
                        .which = which,
                        .args = {.send = w->send,
                                 .recv = w->recv,
                                 .send_count = COUNT,
                                 .recv_count = COUNT,
                                 .send_counts = w->counts,
                                 .recv_counts = w->counts,
                                 .send_displs = w->displs,
                                 .recv_displs = w->displs,
                                 .send_type = MPI_INT,
                                 .recv_type = MPI_INT,
                                 .op = MPI_SUM,
                                 .comm = comm}};
  return one;
}

static void add_all(struct invalid_calls* w, MPI_Comm comm) {
  const int ranks = size_of(comm);
  for (int i = 0; i < ranks && i < 8; ++i) {
    w->counts[i] = COUNT;
    w->displs[i] = COUNT * i;
    w->negative[i] = -1;
  }
  MPI_Type_contiguous(2, MPI_INT, &w->uncommitted);
  MPI_Type_contiguous(2, MPI_INT, &w->pair);
  MPI_Type_commit(&w->pair);
  static const enum collective rooted[] = {BCAST, GATHER, SCATTER, REDUCE, GATHERV, SCATTERV};
  for (int i = 0; i < 6; ++i) {
    add(w, "root is the number of ranks", rooted[i], comm)->args.root = ranks;
    add(w, "root is -5", rooted[i], comm)->args.root = -5;
  }
  static const enum collective counted[] = {BCAST, ALLREDUCE, REDUCE, SCAN, EXSCAN, REDUCE_SCATTER_BLOCK};
  for (int i = 0; i < 6; ++i) add(w, "count is -1", counted[i], comm)->args.recv_count = -1;
  add(w, "send count is -1", ALLGATHER, comm)->args.send_count = -1;
  add(w, "send count is -1", ALLTOALL, comm)->args.send_count = -1;
  add(w, "counts are -1", ALLGATHERV, comm)->args.recv_counts = w->negative;
  add(w, "counts are -1", REDUCE_SCATTER, comm)->args.recv_counts = w->negative;
  add(w, "counts are -1", ALLTOALLV, comm)->args.send_counts = w->negative;
  static const enum collective typed[] = {BCAST, ALLREDUCE, REDUCE, ALLGATHER, ALLTOALL, SCAN};
  for (int i = 0; i < 6; ++i) {
    struct args* a = &add(w, "type is null", typed[i], comm)->args;
    a->send_type = a->recv_type = MPI_DATATYPE_NULL;
  }
  struct args* a = &add(w, "type is not committed", BCAST, comm)->args;
  a->recv_type = w->uncommitted;
  a = &add(w, "type is not committed", ALLGATHER, comm)->args;
  a->send_type = a->recv_type = w->uncommitted;
  static const enum collective reducing[] = {ALLREDUCE, REDUCE,         SCAN,
                                             EXSCAN,    REDUCE_SCATTER, REDUCE_SCATTER_BLOCK};
  for (int i = 0; i < 6; ++i) {
    add(w, "operator is null", reducing[i], comm)->args.op = MPI_OP_NULL;
    a = &add(w, "bits of floats", reducing[i], comm)->args;
    a->op = MPI_BAND;
    a->recv_type = MPI_FLOAT;
    add(w, "sum of pairs", reducing[i], comm)->args.recv_type = w->pair;
    add(w, "least place of ints", reducing[i], comm)->args.op = MPI_MINLOC;
  }
  add(w, "communicator is null", ALLREDUCE, MPI_COMM_NULL);
  add(w, "communicator is null", BARRIER, MPI_COMM_NULL);
  add(w, "communicator is null", BCAST, MPI_COMM_NULL);
}

/// Calls of the handler, and the class of the last error. MPI gives a handler no other place.
static int handled = 0, handled_class = 0;

static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  ++handled;
  MPI_Error_class(*code, &handled_class);
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  return class;
}

/// Rank 0 collects the result of a case from all ranks by messages and prints it.
static void print_result(const char* name, enum collective which, int nonblocking, const int* mine) {
  const int rank = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  if (rank > 0) {
    MPI_Send(mine, 4, MPI_INT, 0, 3, MPI_COMM_WORLD);
    return;
  }
  printf("%s%s: %s:", nonblocking ? "i" : "", name_of(which), name);
  for (int r = 0; r < ranks; ++r) {
    int theirs[4];
    memcpy(theirs, mine, sizeof theirs);
    if (r > 0) MPI_Recv(theirs, 4, MPI_INT, r, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    printf(" call %d wait %d", theirs[0], theirs[1]);
    if (theirs[2] > 0) printf(" handled %d class %d", theirs[2], theirs[3]);
    printf(r + 1 < ranks ? "," : "\n");
  }
}

/// Calls that crash the MPI itself, because it does not check its counts.
static int is_skipped(const struct invalid_call* w, int nonblocking) {
#ifdef OPEN_MPI
  (void)nonblocking;
  return w->which == ALLGATHERV && w->args.recv_counts[0] < 0;
#else
  return w->which >= REDUCE && !nonblocking && w->args.recv_count < 0;
#endif
}

static void run(const struct invalid_call* w, int nonblocking) {
  if (is_skipped(w, nonblocking)) return;
  MPI_Request request = MPI_REQUEST_NULL;
  handled = handled_class = 0;
  int result[4] = {0, 0, 0, 0};
  result[0] = class_of(call(w->which, &w->args, nonblocking ? &request : NULL));
  if (result[0] == MPI_SUCCESS && request != MPI_REQUEST_NULL)
    result[1] = class_of(MPI_Wait(&request, MPI_STATUS_IGNORE));
  result[2] = handled;
  result[3] = handled_class;
  print_result(w->name, w->which, nonblocking, result);
}

/// Makes each wrong call on a communicator that has served right ones.
static long run_all(MPI_Errhandler errhandler, long only) {
  MPI_Comm comm;
  struct invalid_calls w = {.n = 0};
  int one = 1, sum = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Comm_set_errhandler(comm, errhandler);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, errhandler);
  add_all(&w, comm);
  for (int i = 0; i < w.n; ++i) {
    if (only < 0 || only == 2 * i) run(&w.all[i], 0);
    if (only < 0 || only == 2 * i + 1) run(&w.all[i], 1);
  }
  // Right calls still work.
  for (int i = 0; i < 3; ++i) {
    sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    if (sum != size_of(comm)) fail("allreduce", "after wrong calls the sum is %d", sum);
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_free(&comm);
  MPI_Type_free(&w.uncommitted);
  MPI_Type_free(&w.pair);
  return 2L * w.n;
}

/// A message longer than its receivers expect. Its communicator is not used again.
static void run_truncated(int nonblocking) {
  MPI_Comm comm;
  int many[100] = {0};
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);  // for errors of requests
  MPI_Barrier(comm);
  struct invalid_call w = {
      "too long for its receivers",
      BCAST,
      {.recv = many, .recv_count = rank_in(comm) == 0 ? 100 : 10, .recv_type = MPI_INT, .comm = comm}};
  run(&w, nonblocking);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long fatal = argument(argc, argv, "fatal", -1);
  if (fatal >= 0) {
    struct invalid_calls w = {.n = 0};
    int one = 1, sum = 0;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    add_all(&w, MPI_COMM_WORLD);
    const struct invalid_call* which = &w.all[fatal % w.n];
    MPI_Request request = MPI_REQUEST_NULL;
    call(which->which, &which->args, fatal >= w.n ? &request : NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("invalid_calls: %s: %s: it returned\n", name_of(which->which), which->name);
    MPI_Finalize();
    return 0;
  }
  const long only = argument(argc, argv, "only", -1);
  long cases = run_all(MPI_ERRORS_RETURN, only);
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(handler, &own);
  cases += run_all(own, only);
  MPI_Errhandler_free(&own);
  for (int nonblocking = 0; nonblocking < 2; ++nonblocking, ++cases) run_truncated(nonblocking);
  return finish("invalid_calls", cases);
}

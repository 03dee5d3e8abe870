// SPDX-License-Identifier: Apache-2.0
//
// Tests that the program cannot see the library: no message, attribute, callback, name or error
// handler of its private communicators, whichever collectives are in progress.
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "known_faults.h"

/// Calls of the callbacks for the program's own attribute. MPI gives a callback no other place to
/// count.
static int copied = 0, deleted = 0;

static int copy(MPI_Comm comm, int keyval, void* extra, void* in, void* out, int* flag) {
  (void)comm, (void)keyval, (void)extra;
  ++copied;
  *(void**)out = in;
  *flag = 1;
  return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void* value, void* extra) {
  (void)comm, (void)keyval, (void)value, (void)extra;
  ++deleted;
  return MPI_SUCCESS;
}

static int handled = 0;

static void handler(MPI_Comm* comm, int* code, ...) {
  (void)comm, (void)code;
  ++handled;
}

static void expect_no_message(MPI_Comm comm, const char* when) {
  int flag = 0;
  MPI_Status status;
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &status);
  if (flag)
    fail("MPI_Iprobe", "%s: there is a message from %d with tag %d", when, status.MPI_SOURCE, status.MPI_TAG);
  MPI_Message message;
  MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &flag, &message, &status);
  if (flag)
    fail("MPI_Improbe", "%s: there is a message from %d with tag %d", when, status.MPI_SOURCE,
         status.MPI_TAG);
}

/// A barrier by messages on another communicator, because the tested one must stay empty.
static void synchronize(MPI_Comm other_comm) {
  int token = 0;
  const int rank = rank_in(other_comm), ranks = size_of(other_comm);
  for (int step = 1; step < ranks; step *= 2) {
    MPI_Sendrecv(&token, 1, MPI_INT, (rank + step) % ranks, 1, &token, 1, MPI_INT,
                 (rank + ranks - step) % ranks, 1, other_comm, MPI_STATUS_IGNORE);
  }
}

/// A wildcard receive must match the program's message, with collectives before, after and around
/// it.
static long run_messages(MPI_Comm comm, MPI_Comm other_comm, const struct layout* ints) {
  const int rank = rank_in(comm), ranks = size_of(comm);
  long cases = 0;
  for (enum collective which = BARRIER; which <= ALLTOALLV; ++which) {
    int got = -1;
    const int sent = rank * 1000 + (int)which;
    MPI_Request any, sending;
    MPI_Status status;
    struct job jobs[3];
    const struct move move = {.comm = comm, .send = ints, .recv = ints, .units = 500, .seed = 3};
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &any);
    for (int i = 0; i < 3; ++i) {
      make_move(&jobs[i], which, &move);
      start(&jobs[i], i > 0);
    }
    MPI_Isend(&sent, 1, MPI_INT, (rank + 1) % ranks, (int)which, comm, &sending);
    for (int i = 2; i >= 0; --i) complete(&jobs[i]);
    MPI_Wait(&any, &status);
    MPI_Wait(&sending, MPI_STATUS_IGNORE);
    const int from = (rank + ranks - 1) % ranks;
    if (status.MPI_SOURCE != from || status.MPI_TAG != (int)which || got != from * 1000 + (int)which) {
      fail(name_of(which), "a receive of anything got %d from %d with tag %d", got, status.MPI_SOURCE,
           status.MPI_TAG);
    }
    synchronize(other_comm);
    make_move(&jobs[0], which, &move);
    start(&jobs[0], 1);
    for (int i = 0; i < 20; ++i) expect_no_message(comm, name_of(which));
    complete(&jobs[0]);
    expect_no_message(comm, name_of(which));
    synchronize(other_comm);
    ++cases;
  }
  return cases;
}

static long run_attributes(MPI_Comm base, const struct layout* ints) {
  MPI_Comm comm, made;
  int keyval = 0, value = 5, flag = 0;
  void* found = NULL;
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0;
  MPI_Comm_dup(base, &comm);
  MPI_Comm_create_keyval(copy, delete, &keyval, NULL);
  MPI_Comm_set_attr(comm, keyval, &value);
  MPI_Comm_set_name(comm, "the program's own");
  for (enum collective which = BARRIER; which <= ALLTOALLV; ++which) {
    for (int nonblocking = 0; nonblocking < 2; ++nonblocking) {
      struct job job;
      const struct move move = {.comm = comm, .send = ints, .recv = ints, .units = 20};
      make_move(&job, which, &move);
      start(&job, nonblocking);
      complete(&job);
    }
  }
  if (copied != 0 || deleted != 0)
    fail("attributes", "by collectives %d were copied and %d deleted", copied, deleted);
  MPI_Comm_get_name(comm, name, &length);
  if (strcmp(name, "the program's own") != 0) fail("MPI_Comm_get_name", "it is \"%s\"", name);
  MPI_Comm_dup(comm, &made);
  if (copied != 1 || deleted != 0)
    fail("MPI_Comm_dup", "attributes: %d were copied and %d deleted", copied, deleted);
  MPI_Barrier(made);
  MPI_Comm_get_attr(made, keyval, &found, &flag);
  if (!flag || found != &value) fail("MPI_Comm_dup", "the attribute was not handed on");
  MPI_Comm_free(&made);
  if (copied != 1 || deleted != 1)
    fail("MPI_Comm_free", "attributes: %d were copied and %d deleted", copied, deleted);
  MPI_Comm_set_attr(comm, keyval, &value);
  MPI_Comm_delete_attr(comm, keyval);
  MPI_Comm_get_attr(comm, keyval, &found, &flag);
  if (flag) fail("MPI_Comm_delete_attr", "the attribute is still there");
  MPI_Comm_free(&comm);
  if (copied != 1 || deleted != 3)
    fail("MPI_Comm_free", "attributes: %d were copied and %d deleted", copied, deleted);
  MPI_Comm_free_keyval(&keyval);
  return 1;
}

/// An error handler of the program must get only the program's errors, and none of successful
/// collectives.
static long run_handlers(MPI_Comm base, const struct layout* ints) {
  MPI_Comm comm;
  MPI_Errhandler own, found;
  MPI_Comm_dup(base, &comm);
  MPI_Comm_create_errhandler(handler, &own);
  MPI_Comm_set_errhandler(comm, own);
  for (enum collective which = BARRIER; which <= ALLTOALLV; ++which) {
    struct job job;
    const struct move move = {.comm = comm, .send = ints, .recv = ints, .units = 20};
    make_move(&job, which, &move);
    start(&job, 0);
    complete(&job);
  }
  if (handled != 0) fail("error handler", "it was called %d times without an error", handled);
  MPI_Comm_get_errhandler(comm, &found);
  if (found != own) fail("MPI_Comm_get_errhandler", "it is another one");
  MPI_Errhandler_free(&found);
  MPI_Errhandler_free(&own);
  MPI_Comm_free(&comm);
  return 1;
}

/// Tests what the program sees of MPI_COMM_WORLD and MPI_COMM_SELF.
static long run_predefined(void) {
  char name[MPI_MAX_OBJECT_NAME] = "";
  int length = 0, flag = 0, *bound = NULL;
  MPI_Comm_get_name(MPI_COMM_WORLD, name, &length);
  if (strcmp(name, "MPI_COMM_WORLD") != 0) fail("MPI_Comm_get_name", "it is \"%s\"", name);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &bound, &flag);
  if (!flag || *bound < 32767) fail("MPI_TAG_UB", "it is %d", flag ? *bound : -1);
  // The highest tag is available to the program.
  int got = 0;
  const int rank = rank_in(MPI_COMM_WORLD);
  MPI_Sendrecv(&rank, 1, MPI_INT, rank, *bound, &got, 1, MPI_INT, rank, *bound, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (got != rank) fail("MPI_Sendrecv", "with the highest tag it got %d", got);
  return 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const struct layout ints = {
      .name = "int", .type = MPI_INT, .named = 1, .items = 1, .size = {4}, .extent = 4};
  MPI_Comm comm, other_comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_dup(MPI_COMM_WORLD, &other_comm);
  long cases = run_messages(MPI_COMM_WORLD, other_comm, &ints);
  cases += run_messages(comm, other_comm, &ints);
  cases += run_attributes(MPI_COMM_WORLD, &ints);
  cases += run_handlers(comm, &ints);
  cases += run_predefined();
  MPI_Comm_free(&comm);
  MPI_Comm_free(&other_comm);
  return finish("isolation", cases);
}

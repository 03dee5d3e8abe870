// SPDX-License-Identifier: Apache-2.0
#include "job.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { GUARD = 64 };

static void write_values(char* base, const struct layout* layout, long items, const char* values) {
  for (long i = 0; i < items; ++i) {
    const int item = (int)(i % layout->items);
    memcpy(base + (i / layout->items) * layout->extent + layout->offset[item], values,
           (size_t)layout->size[item]);
    values += layout->size[item];
  }
}

struct memory remember(const struct part* parts, int n) {
  ptrdiff_t low = 0, high = 0;
  for (int i = 0; i < n; ++i) {
    ptrdiff_t from, to;
    bounds_of(parts[i].layout, parts[i].items, &from, &to);
    if (parts[i].at + from < low) low = parts[i].at + from;
    if (parts[i].at + to > high) high = parts[i].at + to;
  }
  const ptrdiff_t before = GUARD + (-low + 15) / 16 * 16;  // the base stays aligned
  struct memory made = {0};
  made.size = (size_t)(before + high + GUARD);
  made.bytes = checked_malloc(made.size);
  made.expected = checked_malloc(made.size);
  made.base = made.bytes + before;
  for (size_t i = 0; i < made.size; ++i) made.bytes[i] = (char)(0xA5 ^ (i * 29));
  for (int i = 0; i < n; ++i) {
    const struct part* p = &parts[i];
    if (p->before != 0) write_items(made.base + p->at, p->layout, p->items, p->before);
    if (p->values_before != NULL) write_values(made.base + p->at, p->layout, p->items, p->values_before);
  }
  memcpy(made.expected, made.bytes, made.size);
  for (int i = 0; i < n; ++i) {
    const struct part* p = &parts[i];
    if (p->after != 0) write_items(made.expected + before + p->at, p->layout, p->items, p->after);
    if (p->values_after != NULL)
      write_values(made.expected + before + p->at, p->layout, p->items, p->values_after);
  }
  return made;
}

void start(struct job* job, int nonblocking) {
  job->request = MPI_REQUEST_NULL;
  job->nonblocking = nonblocking;
  expect_success(call(job->which, &job->args, nonblocking ? &job->request : NULL), name_of(job->which),
                 job->name);
  for (int i = 0; i < job->own_types; ++i) MPI_Type_free(&job->types[i]);
  job->own_types = 0;
}

/// Accepts any contents of the items that are undefined after the call.
static void accept(const struct memory* memory, const struct part* open) {
  const ptrdiff_t start = memory->base - memory->bytes + open->at;
  for (long i = 0; i < open->items; ++i) {
    const int item = (int)(i % open->layout->items);
    const ptrdiff_t at =
        start + (i / open->layout->items) * open->layout->extent + open->layout->offset[item];
    memcpy(memory->expected + at, memory->bytes + at, (size_t)open->layout->size[item]);
  }
}

static void compare(const struct job* job, const struct memory* memory, const char* which) {
  accept(memory, &memory->open);
  if (memory->bytes == NULL || memcmp(memory->bytes, memory->expected, memory->size) == 0) return;
  size_t i = 0;
  while (memory->bytes[i] == memory->expected[i]) ++i;
  fail(name_of(job->which), "%s%s: byte %td of the %s buffer is %02x, should be %02x",
       job->nonblocking ? "nonblocking, " : "", job->name, memory->bytes + i - memory->base, which,
       (unsigned char)memory->bytes[i], (unsigned char)memory->expected[i]);
}

void check(const struct job* job) {
  compare(job, &job->send, "send");
  compare(job, &job->recv, "receive");
}

void drop(struct job* job) {
  free(job->send.bytes);
  free(job->send.expected);
  free(job->recv.bytes);
  free(job->recv.expected);
  free(job->numbers);
  free(job->types);
  memset(job, 0, sizeof *job);
}

void complete(struct job* job) {
  if (job->request != MPI_REQUEST_NULL) {
    expect_success(MPI_Wait(&job->request, MPI_STATUS_IGNORE), name_of(job->which), job->name);
  }
  check(job);
  drop(job);
}

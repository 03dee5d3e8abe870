// SPDX-License-Identifier: Apache-2.0
#include "reducing_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

int reduces(enum collective which) { return which >= REDUCE && which < COLLECTIVES; }

static long block_of(enum collective which, const struct reduction* r, int rank) {
  return which == REDUCE_SCATTER ? r->count * ((rank * 3 + 1) % 4) : r->count;
}

long elements_of(enum collective which, const struct reduction* r, int ranks) {
  if (which != REDUCE_SCATTER && which != REDUCE_SCATTER_BLOCK) return r->count;
  long all = 0;
  for (int i = 0; i < ranks; ++i) all += block_of(which, r, i);
  return all;
}

/// Folds the contributions of ranks 0 to `last` to the elements [first, first + n).
static char* folded(const struct algebra* algebra, int last, long first, long n) {
  char* all = checked_malloc((size_t)(n * algebra->bytes));
  for (long i = 0; i < n; ++i) {
    char* element = all + i * algebra->bytes;
    algebra->value(element, 0, first + i);
    for (int rank = 1; rank <= last; ++rank) {
      char right[MOST_VALUE], result[MOST_VALUE];
      algebra->value(right, rank, first + i);
      algebra->combine(element, right, result);
      memcpy(element, result, (size_t)algebra->bytes);
    }
  }
  return all;
}

static char* contribution_of(const struct algebra* algebra, int rank, long n) {
  char* all = checked_malloc((size_t)(n * algebra->bytes));
  for (long i = 0; i < n; ++i) algebra->value(all + i * algebra->bytes, rank, i);
  return all;
}

/// Returns the elements that this rank gets, and their number; NULL if its buffer stays unchanged.
static char* result_of(enum collective which, const struct reduction* r, int rank, int ranks, long* n) {
  long first = 0;
  *n = block_of(which, r, rank);
  switch (which) {
    case REDUCE:
      return rank == r->root ? folded(r->algebra, ranks - 1, 0, *n) : NULL;
    case ALLREDUCE:
      return folded(r->algebra, ranks - 1, 0, *n);
    case SCAN:
      return folded(r->algebra, rank, 0, *n);
    case EXSCAN:
      return rank > 0 ? folded(r->algebra, rank - 1, 0, *n) : NULL;
    default:
      for (int i = 0; i < rank; ++i) first += block_of(which, r, i);
      return folded(r->algebra, ranks - 1, first, *n);
  }
}

void make_reduction(struct job* job, enum collective which, const struct reduction* r) {
  memset(job, 0, sizeof *job);
  const struct algebra* algebra = r->algebra;
  const int rank = rank_in(r->comm), ranks = size_of(r->comm);
  const long all = elements_of(which, r, ranks);
  const int in_place = r->in_place && (which != REDUCE || rank == r->root);
  long n = 0;
  char *mine = contribution_of(algebra, rank, all), *result = result_of(which, r, rank, ranks, &n);
  const long items = algebra->layout->items;
  struct part part = {.layout = algebra->layout, .items = all * items, .values_before = mine};
  if (in_place) {
    struct part both[2] = {part, {.layout = algebra->layout, .items = n * items, .values_after = result}};
    job->recv = remember(both, 2);
    // The contents after the resulting block are undefined.
    job->recv.open = (struct part){
        .layout = algebra->layout, .at = n * algebra->layout->extent, .items = (all - n) * items};
    job->args.send = MPI_IN_PLACE;
  } else {
    job->send = remember(&part, 1);
    job->args.send = job->send.base;
    part = (struct part){.layout = algebra->layout, .items = n * items, .values_after = result};
    job->recv = remember(&part, 1);
  }
  job->args.recv = which == REDUCE && rank != r->root ? NULL : job->recv.base;
  if (which == EXSCAN && rank == 0)
    job->recv.open = (struct part){.layout = algebra->layout, .items = n * items};
  job->which = which;
  job->args.recv_type = algebra->layout->type;
  job->args.op = algebra->op;
  job->args.root = r->root;
  job->args.comm = r->comm;
  job->args.recv_count = (int)r->count;
  job->numbers = checked_malloc((size_t)ranks * sizeof(int));
  for (int i = 0; i < ranks; ++i) job->numbers[i] = (int)block_of(which, r, i);
  job->args.recv_counts = job->numbers;
  snprintf(job->name, sizeof job->name, "%s on %s, count %ld, root %d%s", algebra->name,
           algebra->layout->name, r->count, r->root, r->in_place ? ", in place" : "");
  free(mine);
  free(result);
}

// SPDX-License-Identifier: Apache-2.0
//
// Tests collectives that move ints: every size, every root, in place, uneven with gaps. Each runs
// blocking, and nonblocking with all in progress at once.
#include "check.h"
#include "known_faults.h"
#include "moving_calls.h"

enum { MAX_MOVES = 64 };

/// Jobs that are started one after another and completed together in reverse order.
struct batch {
  struct job jobs[MAX_MOVES];
  int n;
  int nonblocking;
  int all;
  long cases;
};

static void finish_batch(struct batch* b) {
  while (b->n > 0) complete(&b->jobs[--b->n]);
}

static void run(struct batch* b, enum collective which, const struct move* move) {
  if (!b->all && move_has_known_fault(which, move, b->nonblocking)) return;
  struct job* job = &b->jobs[b->n++];
  make_move(job, which, move);
  start(job, b->nonblocking);
  ++b->cases;
  if (!b->nonblocking || b->n == MAX_MOVES) finish_batch(b);
}

static void run_all(struct batch* b, const struct layout* ints, int ranks) {
  static const long units[] = {0, 1, 17, 1000};
  for (enum collective which = BARRIER; which <= ALLTOALLW; ++which) {
    for (int u = 0; u < 4; ++u) {
      for (int root = 0; root < (has_root(which) ? ranks : 1); ++root) {
        for (int in_place = 0; in_place <= may_be_in_place(which); ++in_place) {
          for (int gaps = 0; gaps <= moves_data(which) && gaps <= 1; ++gaps) {
            const int with_gaps =
                gaps && (which == GATHERV || which == SCATTERV || which >= ALLGATHERV) && which != ALLTOALL;
            if (gaps && !with_gaps) continue;
            const struct move move = {MPI_COMM_WORLD,      ints, ints, units[u], root, in_place, gaps, 0,
                                      (unsigned)(root + u)};
            run(b, which, &move);
          }
        }
      }
    }
    finish_batch(b);
  }
}

/// 1 MiB in all, once for each collective.
static void run_large(struct batch* b, const struct layout* ints, int ranks) {
  for (enum collective which = BCAST; which <= ALLTOALLW; ++which) {
    const long whole = 1L << 18;
    const struct move move = {
        MPI_COMM_WORLD, ints, ints, which == BCAST ? whole : whole / ranks, ranks - 1, 0, 0, 0, 7};
    run(b, which, &move);
    finish_batch(b);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int ranks = size_of(MPI_COMM_WORLD);
  struct layout layouts[MAX_LAYOUTS];
  const int n = int_layouts(layouts);
  static struct batch b;
  b.all = argument(argc, argv, "all", 0) != 0;
  for (b.nonblocking = 0; b.nonblocking < 2; ++b.nonblocking) {
    run_all(&b, &layouts[0], ranks);
    run_large(&b, &layouts[0], ranks);
  }
  free_layouts(layouts, n);
  return finish("moves", b.cases);
}

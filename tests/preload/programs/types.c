// SPDX-License-Identifier: Apache-2.0
//
// Tests collectives that move data with derived datatypes: every pair of types with one signature
// on sender and receiver. Gaps and surrounding memory must not change. Also uses absolute addresses
// from MPI_BOTTOM, and frees types while the call is in progress.
#include "check.h"
#include "known_faults.h"
#include "moving_calls.h"

/// Selects the cases, and counts them.
struct run {
  int all;
  long cases;
};

static void run(struct run* r, enum collective which, struct move move) {
  struct job jobs[2];
  int n = 0;
  for (int nonblocking = 0; nonblocking < 2; ++nonblocking) {
    if (r->all || !move_has_known_fault(which, &move, nonblocking)) {
      make_move(&jobs[n], which, &move);
      start(&jobs[n++], nonblocking);
      ++r->cases;
    }
    move.in_place = may_be_in_place(which) && move.send == move.recv;
    move.absolute = !move.absolute;
    move.seed += 1;
  }
  while (n > 0) complete(&jobs[--n]);
}

static void run_pairs(struct run* r, const struct layout* layouts, int n, int ranks) {
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      if ((layouts[i].items == 0) != (layouts[j].items == 0)) continue;  // different signatures
      for (enum collective which = BCAST; which <= ALLTOALLW; ++which) {
        // Each pair runs in some collectives; each collective runs with each type on both sides.
        if (i != j && (i + 2 * j + (int)which) % 3 != 0) continue;
        const struct layout* send = which == BCAST ? &layouts[j] : &layouts[i];
        run(r, which,
            (struct move){.comm = MPI_COMM_WORLD,
                          .send = send,
                          .recv = &layouts[j],
                          .units = 1 + (i + j) % 3,
                          .root = (i * 3 + j) % ranks,
                          .gaps = (i + j) % 2,
                          .seed = (unsigned)(i * 7 + j)});
      }
    }
  }
}

/// Each rank uses a different datatype for the same 12 ints.
static void run_bcasts(struct run* r, const struct layout* layouts, int n, int rank, int ranks) {
  const struct layout* nonempty[MAX_LAYOUTS];
  int m = 0;
  for (int i = 0; i < n; ++i) {
    if (layouts[i].items > 0) nonempty[m++] = &layouts[i];
  }
  for (int i = 0; i < m; ++i) {
    const struct layout* mine = nonempty[(i + rank * 5) % m];
    run(r, BCAST,
        (struct move){.comm = MPI_COMM_WORLD,
                      .send = mine,
                      .recv = mine,
                      .units = 12 / mine->items,
                      .root = i % ranks});
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rank = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  struct run r = {.all = argument(argc, argv, "all", 0) != 0};
  struct layout layouts[MAX_LAYOUTS];
  int n = int_layouts(layouts);
  run_pairs(&r, layouts, n, ranks);
  run_bcasts(&r, layouts, n, rank, ranks);
  free_layouts(layouts, n);
  n = mixed_layouts(layouts);
  run_pairs(&r, layouts, n, ranks);
  free_layouts(layouts, n);
  return finish("types", r.cases);
}

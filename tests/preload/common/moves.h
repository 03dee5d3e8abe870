// SPDX-License-Identifier: Apache-2.0
//
// Jobs of the collectives that move data: each block is named by who sends it to whom, so that every rank
// knows what all others hold.
#ifndef TUTTI_TESTS_PRELOAD_MOVES_H
#define TUTTI_TESTS_PRELOAD_MOVES_H

#include "job.h"

struct move {
  MPI_Comm comm;
  const struct layout *send, *recv;  // of the same signature
  long units;  // a block has this many times common_items(); those of v and w have 0 to 3 times as many
  int root;
  int in_place;
  int gaps;      // between the blocks of v and w, which lie in another order then
  int absolute;  // the buffers are MPI_BOTTOM, and the types have addresses
  unsigned seed;
};

int moves_data(enum collective which);
int has_root(enum collective which);
int may_be_in_place(enum collective which);

void make_move(struct job* job, enum collective which, const struct move* move);

#endif

// SPDX-License-Identifier: Apache-2.0
//
// Jobs of the collectives that move data. The key of each block identifies its sender and receiver,
// so every rank knows the data of all.
#ifndef TUTTI_TESTS_PRELOAD_MOVES_H
#define TUTTI_TESTS_PRELOAD_MOVES_H

#include "job.h"

struct move {
  MPI_Comm comm;
  const struct layout *send, *recv;  // of the same signature
  // A block has this many times common_items(); those of v and w have 0 to 3 times as many.
  long units;
  int root;
  int in_place;
  int gaps;  // between the blocks of v and w, and blocks in another order
  int absolute;  // the buffers are MPI_BOTTOM, and the datatypes contain addresses
  unsigned seed;
};

int moves_data(enum collective which);
int has_root(enum collective which);
int may_be_in_place(enum collective which);

void make_move(struct job* job, enum collective which, const struct move* move);

#endif

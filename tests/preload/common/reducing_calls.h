// SPDX-License-Identifier: Apache-2.0
//
// Jobs of the collectives that reduce elements of any datatype with an MPI_Op and an equivalent C
// function. The expected result is the fold in rank order, element by element.
#ifndef TUTTI_TESTS_PRELOAD_REDUCTIONS_H
#define TUTTI_TESTS_PRELOAD_REDUCTIONS_H

#include "job.h"

enum { MOST_VALUE = 64 };

/// The elements and the operator of a reduction. Elements are packed here: `bytes` of the layout's
/// items, contiguous.
struct algebra {
  const char* name;
  const struct layout* layout;
  MPI_Op op;
  int bytes;
  void (*value)(char* element, int rank, long index);  // the contribution of a rank
  void (*combine)(const char* left, const char* right, char* result);  // result may not alias
};

struct reduction {
  MPI_Comm comm;
  const struct algebra* algebra;
  long count;  // elements of a block; reduce_scatter has blocks of 0 to 3 times as many
  int root;
  int in_place;
};

int reduces(enum collective which);

void make_reduction(struct job* job, enum collective which, const struct reduction* reduction);

/// Returns the elements of a whole vector of that call on p ranks.
long elements_of(enum collective which, const struct reduction* reduction, int ranks);

#endif

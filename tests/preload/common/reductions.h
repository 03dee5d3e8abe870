// SPDX-License-Identifier: Apache-2.0
//
// Jobs of the collectives that reduce: elements of any datatype under an operator that is told as a C
// function beside the MPI_Op. What must come out is the fold in the order of the ranks, element by element.
#ifndef TUTTI_TESTS_PRELOAD_REDUCTIONS_H
#define TUTTI_TESTS_PRELOAD_REDUCTIONS_H

#include "job.h"

enum { MOST_VALUE = 64 };

/// What is reduced. Elements are packed here: `bytes` of the layout's items one after another.
struct algebra {
  const char* name;
  const struct layout* layout;
  MPI_Op op;
  int bytes;
  void (*value)(char* element, int rank, long index);                  // what a rank brings
  void (*combine)(const char* left, const char* right, char* result);  // may not alias
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

/// Elements of a whole vector of that call, on p ranks.
long elements_of(enum collective which, const struct reduction* reduction, int ranks);

#endif

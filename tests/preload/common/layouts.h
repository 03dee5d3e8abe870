// SPDX-License-Identifier: Apache-2.0
//
// Datatypes beside what they mean, told by hand: where each basic element lies. No oracle asks MPI about a
// type.
#ifndef TUTTI_TESTS_PRELOAD_LAYOUTS_H
#define TUTTI_TESTS_PRELOAD_LAYOUTS_H

#include <mpi.h>
#include <stddef.h>

enum { MOST_ITEMS = 12, MOST_LAYOUTS = 16 };

/// A datatype of `items` basic elements, in the order of its signature.
struct layout {
  const char* name;
  MPI_Datatype type;
  int named;  // the type is MPI's own, and is not freed
  int items;
  ptrdiff_t offset[MOST_ITEMS];
  int size[MOST_ITEMS];
  ptrdiff_t extent;
};

/// All layouts whose signature is ints, or those of a double, a char and a short in turn; how many.
/// free_layouts() frees them.
int int_layouts(struct layout* all);
int mixed_layouts(struct layout* all);
void free_layouts(struct layout* all, int n);

/// How many elements a block of these two must have a multiple of; 0 where one of them has none.
int common_items(const struct layout* a, const struct layout* b);

/// Writes `items` basic elements that `key` names, as the type would lie at `base`.
void write_items(char* base, const struct layout* layout, long items, unsigned key);

/// The lowest and the highest byte of them, from the base.
void bounds_of(const struct layout* layout, long items, ptrdiff_t* low, ptrdiff_t* high);

#endif

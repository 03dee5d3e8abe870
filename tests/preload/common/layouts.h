// SPDX-License-Identifier: Apache-2.0
//
// Datatypes with their layouts, written by hand: the position of each basic element. The reference
// results never ask MPI about a type.
#ifndef TUTTI_TESTS_PRELOAD_LAYOUTS_H
#define TUTTI_TESTS_PRELOAD_LAYOUTS_H

#include <mpi.h>
#include <stddef.h>

enum { MAX_ITEMS = 12, MAX_LAYOUTS = 16 };

/// A datatype of `items` basic elements, in the order of its signature.
struct layout {
  const char* name;
  MPI_Datatype type;
  int named;  // a predefined type, which is not freed
  int items;
  ptrdiff_t offset[MAX_ITEMS];
  int size[MAX_ITEMS];
  ptrdiff_t extent;
};

/// Creates all layouts with a signature of ints, or of a double, a char and a short in turn.
/// Returns their number. free_layouts() frees them.
int int_layouts(struct layout* all);
int mixed_layouts(struct layout* all);
void free_layouts(struct layout* all, int n);

/// Returns the number of which the elements of a block for both layouts must be a multiple; 0 if
/// one of them is empty.
int common_items(const struct layout* a, const struct layout* b);

/// Writes `items` basic elements that `key` identifies, at the positions of the type at `base`.
void write_items(char* base, const struct layout* layout, long items, unsigned key);

/// Returns the lowest and the highest byte of the items, relative to the base.
void bounds_of(const struct layout* layout, long items, ptrdiff_t* low, ptrdiff_t* high);

#endif

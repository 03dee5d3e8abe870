// SPDX-License-Identifier: Apache-2.0
#include "layouts.h"

#include "check.h"

static struct layout of_ints(const char* name, MPI_Datatype type, int items, const ptrdiff_t* ints,
                             ptrdiff_t extent) {
  struct layout made = {
      .name = name, .type = type, .items = items, .extent = extent * (ptrdiff_t)sizeof(int)};
  for (int i = 0; i < items; ++i) {
    made.offset[i] = ints[i] * (ptrdiff_t)sizeof(int);
    made.size[i] = (int)sizeof(int);
  }
  return made;
}

static MPI_Datatype resized(MPI_Datatype old, MPI_Aint low, MPI_Aint extent, int free_old) {
  MPI_Datatype made;
  MPI_Type_create_resized(old, low, extent, &made);
  if (free_old) MPI_Type_free(&old);
  return made;
}

int int_layouts(struct layout* all) {
  int n = 0;
  MPI_Datatype type, old;
  all[n] = of_ints("int", MPI_INT, 1, (ptrdiff_t[]){0}, 1);
  all[n++].named = 1;
  MPI_Type_contiguous(3, MPI_INT, &type);
  all[n++] = of_ints("contiguous", type, 3, (ptrdiff_t[]){0, 1, 2}, 3);
  MPI_Type_vector(3, 1, 2, MPI_INT, &type);
  all[n++] = of_ints("vector", type, 3, (ptrdiff_t[]){0, 2, 4}, 5);
  MPI_Type_dup(type, &type);  // the old type is still in use
  all[n++] = of_ints("dup", type, 3, (ptrdiff_t[]){0, 2, 4}, 5);
  MPI_Type_vector(2, 1, 3, MPI_INT, &old);
  type = resized(old, -2 * (MPI_Aint)sizeof(int), 7 * (MPI_Aint)sizeof(int), 1);
  all[n++] = of_ints("resized", type, 2, (ptrdiff_t[]){0, 3}, 7);
  MPI_Type_create_hindexed(2, (int[]){1, 2}, (MPI_Aint[]){-12, 8}, MPI_INT, &old);
  type = resized(old, -16, 40, 1);
  all[n++] = of_ints("negative", type, 3, (ptrdiff_t[]){-3, 2, 3}, 10);
  MPI_Type_vector(2, 1, -2, MPI_INT, &type);  // downwards: from -2 up to 0
  all[n++] = of_ints("backwards", type, 2, (ptrdiff_t[]){0, -2}, 3);
  MPI_Type_indexed(2, (int[]){1, 2}, (int[]){4, 0}, MPI_INT, &type);
  all[n++] = of_ints("out_of_order", type, 3, (ptrdiff_t[]){4, 0, 1}, 5);
  MPI_Type_create_indexed_block(2, 2, (int[]){3, 0}, MPI_INT, &type);
  all[n++] = of_ints("indexed_block", type, 4, (ptrdiff_t[]){3, 4, 0, 1}, 5);
  MPI_Type_create_subarray(2, (int[]){4, 5}, (int[]){2, 3}, (int[]){1, 2}, MPI_ORDER_C, MPI_INT, &type);
  all[n++] = of_ints("subarray", type, 6, (ptrdiff_t[]){7, 8, 9, 12, 13, 14}, 20);
  // The second begins within the gaps of the first: neighbors interleave.
  MPI_Type_vector(3, 1, 4, MPI_INT, &old);
  type = resized(old, 0, (MPI_Aint)sizeof(int), 1);
  MPI_Type_contiguous(2, type, &old);
  MPI_Type_free(&type);
  type = resized(old, 0, 12 * (MPI_Aint)sizeof(int), 1);
  all[n++] = of_ints("interleaved", type, 6, (ptrdiff_t[]){0, 4, 8, 1, 5, 9}, 12);
  MPI_Type_create_hvector(2, 2, 12, MPI_INT, &type);
  all[n++] = of_ints("hvector", type, 4, (ptrdiff_t[]){0, 1, 3, 4}, 5);
  MPI_Type_contiguous(0, MPI_INT, &type);
  all[n++] = of_ints("empty", type, 0, NULL, 0);
  for (int i = 0; i < n; ++i) {
    if (!all[i].named) MPI_Type_commit(&all[i].type);
  }
  return n;
}

static struct layout of_three(const char* name, ptrdiff_t d, ptrdiff_t c, ptrdiff_t s, MPI_Aint low,
                              MPI_Aint extent) {
  struct layout made = {.name = name, .items = 3, .offset = {d, c, s}, .size = {8, 1, 2}, .extent = extent};
  MPI_Datatype old;
  MPI_Type_create_struct(3, (int[]){1, 1, 1}, (MPI_Aint[]){d, c, s},
                         (MPI_Datatype[]){MPI_DOUBLE, MPI_CHAR, MPI_SHORT}, &old);
  made.type = resized(old, low, extent, 1);
  return made;
}

int mixed_layouts(struct layout* all) {
  int n = 0;
  all[n++] = of_three("struct", 0, 8, 10, 0, 16);
  all[n++] = of_three("packed_struct", 0, 8, 9, 0, 11);
  all[n++] = of_three("mixed_order", 8, 0, 2, 0, 16);
  all[n++] = of_three("mixed_negative", 0, -8, -4, -8, 24);
  struct layout two = of_three("of_two", 8, 0, 4, 0, 24);
  MPI_Datatype pair;
  MPI_Type_contiguous(2, two.type, &pair);
  MPI_Type_free(&two.type);
  two.type = pair;
  for (int i = 0; i < 3; ++i) {
    two.offset[3 + i] = two.offset[i] + 24;
    two.size[3 + i] = two.size[i];
  }
  two.items = 6;
  two.extent = 48;
  all[n++] = two;
  for (int i = 0; i < n; ++i) MPI_Type_commit(&all[i].type);
  return n;
}

void free_layouts(struct layout* all, int n) {
  for (int i = 0; i < n; ++i) {
    if (!all[i].named) MPI_Type_free(&all[i].type);
  }
}

int common_items(const struct layout* a, const struct layout* b) {
  if (a->items == 0 || b->items == 0) return 0;
  int common = a->items;
  while (common % b->items != 0) common += a->items;
  return common;
}

void write_items(char* base, const struct layout* layout, long items, unsigned key) {
  for (long i = 0; i < items; ++i) {
    const int item = (int)(i % layout->items);
    char* at = base + (i / layout->items) * layout->extent + layout->offset[item];
    unsigned drawn = (key * 2654435761U) ^ ((unsigned)i * 40503U + 977U);
    for (int byte = 0; byte < layout->size[item]; ++byte) {
      drawn = drawn * 1664525U + 1013904223U;
      at[byte] = (char)(drawn >> 24);
    }
  }
}

void bounds_of(const struct layout* layout, long items, ptrdiff_t* low, ptrdiff_t* high) {
  *low = *high = 0;
  const long whole = layout->items > 0 ? items / layout->items : 0;
  if (whole == 0) return;
  for (int i = 0; i < layout->items; ++i) {
    const ptrdiff_t last = (whole - 1) * layout->extent + layout->offset[i] + layout->size[i];
    if (layout->offset[i] < *low) *low = layout->offset[i];
    if (last > *high) *high = last;
  }
}

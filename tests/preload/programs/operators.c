// SPDX-License-Identifier: Apache-2.0
//
// Tests every predefined operator on every type that MPI 3.1 allows for it (5.9.2), and MINLOC and
// MAXLOC on all pairs. The expected result is computed in the widest type and then narrowed.
#include <complex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "check.h"

enum { COUNT = 5, WIDEST = 32 };
enum kind { SIGNED, UNSIGNED, FLOATING, COMPLEX, BYTES, LOGICAL, KINDS };
enum operation { MAX, MIN, SUM, PROD, LAND, LOR, LXOR, BAND, BOR, BXOR, OPERATIONS };

struct type {
  const char* name;
  MPI_Datatype type;
  enum kind kind;
  int size;
  int bits_only;  // an integer of Fortran or of MPI itself: no logical operators
};

/// A value of any element type.
struct wide {
  int64_t i;
  long double re, im;
};

static struct wide load(const struct type* t, const char* at) {
  struct wide w = {0};
  if (t->kind == FLOATING || t->kind == COMPLEX) {
    const int half = t->kind == COMPLEX ? t->size / 2 : t->size;
    long double parts[2] = {0, 0};
    for (int i = 0; i < (t->kind == COMPLEX ? 2 : 1); ++i) {
      float f;
      double d;
      if (half == (int)sizeof f) {
        memcpy(&f, at + i * half, sizeof f);
        parts[i] = f;
      } else if (half == (int)sizeof d) {
        memcpy(&d, at + i * half, sizeof d);
        parts[i] = d;
      } else {
        memcpy(&parts[i], at + i * half, sizeof parts[i]);
      }
    }
    w.re = parts[0];
    w.im = parts[1];
    return w;
  }
  uint64_t bits = 0;
  memcpy(&bits, at, (size_t)t->size);  // little endian, as on all machines that run this test
  const int shift = 64 - 8 * t->size;
  w.i = t->kind == SIGNED ? (int64_t)(bits << shift) >> shift : (int64_t)bits;
  return w;
}

static void store(const struct type* t, struct wide w, char* at) {
  if (t->kind != FLOATING && t->kind != COMPLEX) {
    memcpy(at, &w.i, (size_t)t->size);
    return;
  }
  const int half = t->kind == COMPLEX ? t->size / 2 : t->size;
  for (int i = 0; i < (t->kind == COMPLEX ? 2 : 1); ++i) {
    const long double part = i == 0 ? w.re : w.im;
    const float f = (float)part;
    const double d = (double)part;
    if (half == (int)sizeof f) {
      memcpy(at + i * half, &f, sizeof f);
    } else if (half == (int)sizeof d) {
      memcpy(at + i * half, &d, sizeof d);
    } else {
      memcpy(at + i * half, &part, sizeof part);
    }
  }
}

/// The contribution of a rank: both signs, zeros, and small enough that products are exact.
/// Unsigned values are below half of their type's range, because MPICH 4.0.2 treats larger ones as
/// negative. Open MPI 4.1.4 treats MPI_OFFSET as unsigned.
static struct wide value(const struct type* t, enum operation op, int rank, int index) {
  struct wide w = {0};
  const int drawn = (rank * 7 + index * 3 + 1) % 5;
  switch (t->kind) {
    case SIGNED:
      w.i = op >= LAND && op <= LXOR ? drawn % 3 - 1 : drawn - 2 + (op <= MIN ? -index : 3);
      break;
    case UNSIGNED:
      w.i = op >= LAND && op <= LXOR ? drawn % 3 : drawn + (op <= MIN ? rank * 10 : 0);
      break;
    case BYTES:
      w.i = (rank * 37 + index * 91 + 5) & 0xff;
      break;
    case LOGICAL:
      w.i = drawn % 2;
      break;
    default:
      w.re = drawn - 1.5L;
      w.im = t->kind == COMPLEX ? (rank + index) % 3 - 1 : 0;
      break;
  }
  return w;
}

static struct wide combine(const struct type* t, enum operation op, struct wide a, struct wide b) {
  struct wide r = a;
  const int floats = t->kind == FLOATING;
  const int less = floats ? a.re < b.re : t->kind == SIGNED ? a.i < b.i : (uint64_t)a.i < (uint64_t)b.i;
  switch (op) {
    case MAX:
      return less ? b : a;
    case MIN:
      return less ? a : b;
    case SUM:
      r.i = (int64_t)((uint64_t)a.i + (uint64_t)b.i);
      r.re = a.re + b.re;
      r.im = a.im + b.im;
      break;
    case PROD:
      r.i = (int64_t)((uint64_t)a.i * (uint64_t)b.i);
      r.re = a.re * b.re - a.im * b.im;
      r.im = a.re * b.im + a.im * b.re;
      break;
    case LAND:
      r.i = a.i != 0 && b.i != 0;
      break;
    case LOR:
      r.i = a.i != 0 || b.i != 0;
      break;
    case LXOR:
      r.i = (a.i != 0) != (b.i != 0);
      break;
    case BAND:
      r.i = a.i & b.i;
      break;
    case BOR:
      r.i = a.i | b.i;
      break;
    case BXOR:
      r.i = a.i ^ b.i;
      break;
    case OPERATIONS:
      break;
  }
  // Narrows the value to the type.
  char narrow[WIDEST];
  store(t, r, narrow);
  return load(t, narrow);
}

static int allowed(const struct type* t, enum operation op) {
  switch (t->kind) {
    case SIGNED:
    case UNSIGNED:
      return op < LAND || op > LXOR || !t->bits_only;
    case FLOATING:
      return op <= PROD;
    case COMPLEX:
      return op == SUM || op == PROD;
    case BYTES:
      return op >= BAND;
    case LOGICAL:
      return op >= LAND && op <= LXOR;
    case KINDS:
      break;
  }
  return 0;
}

/// Returns the last rank whose values contribute to this rank's result, or -1 if it gets none.
static int last_of(enum collective which, int rank, int ranks) {
  switch (which) {
    case REDUCE:
      return rank == 0 ? ranks - 1 : -1;
    case SCAN:
      return rank;
    case EXSCAN:
      return rank - 1;
    default:
      return ranks - 1;
  }
}

static long run(const struct type* t, enum operation op, const char* op_name, MPI_Op handle, long cases) {
  const int rank = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  const enum collective all[] = {ALLREDUCE, REDUCE, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN};
  for (int c = 0; c < 5; ++c) {
    // All operators run in allreduce, and each in one more collective.
    if (c > 0 && (cases + c) % 4 != 0) continue;
    const enum collective which = all[c];
    const int whole = which == REDUCE_SCATTER_BLOCK ? COUNT * ranks : COUNT;
    char *mine = checked_malloc((size_t)(whole * t->size)), *got = checked_malloc((size_t)(COUNT * t->size));
    for (int i = 0; i < whole; ++i) store(t, value(t, op, rank, i), mine + i * t->size);
    memset(got, 0x77, (size_t)(COUNT * t->size));
    MPI_Request request = MPI_REQUEST_NULL;
    const struct args args = {.send = mine,
                              .recv = got,
                              .recv_count = COUNT,
                              .recv_type = t->type,
                              .op = handle,
                              .comm = MPI_COMM_WORLD};
    expect_success(call(which, &args, cases % 2 == 1 ? &request : NULL), name_of(which), op_name);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const int last = last_of(which, rank, ranks);
    const int first = which == REDUCE_SCATTER_BLOCK ? rank * COUNT : 0;
    for (int i = 0; i < COUNT && last >= 0; ++i) {
      struct wide expected = value(t, op, 0, first + i);
      if (ranks > 1 || t->kind != LOGICAL) {
        char narrow[WIDEST];
        store(t, expected, narrow);
        expected = load(t, narrow);
      }
      for (int r = 1; r <= last; ++r) {
        char narrow[WIDEST];
        store(t, value(t, op, r, first + i), narrow);
        expected = combine(t, op, expected, load(t, narrow));
      }
      const struct wide is = load(t, got + i * t->size);
      if (is.i != expected.i || is.re != expected.re || is.im != expected.im) {
        fail(name_of(which), "%s on %s: element %d is %lld %Lg %Lg, should be %lld %Lg %Lg", op_name, t->name,
             i, (long long)is.i, is.re, is.im, (long long)expected.i, expected.re, expected.im);
      }
    }
    free(mine);
    free(got);
    ++cases;
  }
  return cases;
}

static long run_named(long cases) {
  const struct type types[] = {
      {"MPI_SIGNED_CHAR", MPI_SIGNED_CHAR, SIGNED, 1, 0},
      {"MPI_SHORT", MPI_SHORT, SIGNED, 2, 0},
      {"MPI_INT", MPI_INT, SIGNED, 4, 0},
      {"MPI_LONG", MPI_LONG, SIGNED, sizeof(long), 0},
      {"MPI_LONG_LONG", MPI_LONG_LONG, SIGNED, 8, 0},
      {"MPI_INT8_T", MPI_INT8_T, SIGNED, 1, 0},
      {"MPI_INT16_T", MPI_INT16_T, SIGNED, 2, 0},
      {"MPI_INT32_T", MPI_INT32_T, SIGNED, 4, 0},
      {"MPI_INT64_T", MPI_INT64_T, SIGNED, 8, 0},
      {"MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, UNSIGNED, 1, 0},
      {"MPI_UNSIGNED_SHORT", MPI_UNSIGNED_SHORT, UNSIGNED, 2, 0},
      {"MPI_UNSIGNED", MPI_UNSIGNED, UNSIGNED, 4, 0},
      {"MPI_UNSIGNED_LONG", MPI_UNSIGNED_LONG, UNSIGNED, sizeof(long), 0},
      {"MPI_UNSIGNED_LONG_LONG", MPI_UNSIGNED_LONG_LONG, UNSIGNED, 8, 0},
      {"MPI_UINT8_T", MPI_UINT8_T, UNSIGNED, 1, 0},
      {"MPI_UINT16_T", MPI_UINT16_T, UNSIGNED, 2, 0},
      {"MPI_UINT32_T", MPI_UINT32_T, UNSIGNED, 4, 0},
      {"MPI_UINT64_T", MPI_UINT64_T, UNSIGNED, 8, 0},
      {"MPI_AINT", MPI_AINT, SIGNED, sizeof(MPI_Aint), 1},
      {"MPI_OFFSET", MPI_OFFSET, UNSIGNED, sizeof(MPI_Offset), 1},
      {"MPI_COUNT", MPI_COUNT, SIGNED, sizeof(MPI_Count), 1},
      {"MPI_INTEGER", MPI_INTEGER, SIGNED, 4, 1},
      {"MPI_INTEGER1", MPI_INTEGER1, SIGNED, 1, 1},
      {"MPI_INTEGER2", MPI_INTEGER2, SIGNED, 2, 1},
      {"MPI_INTEGER4", MPI_INTEGER4, SIGNED, 4, 1},
      {"MPI_INTEGER8", MPI_INTEGER8, SIGNED, 8, 1},
      {"MPI_FLOAT", MPI_FLOAT, FLOATING, sizeof(float), 0},
      {"MPI_DOUBLE", MPI_DOUBLE, FLOATING, sizeof(double), 0},
      {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, FLOATING, sizeof(long double), 0},
      {"MPI_REAL", MPI_REAL, FLOATING, 4, 0},
      {"MPI_DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, FLOATING, 8, 0},
      {"MPI_REAL4", MPI_REAL4, FLOATING, 4, 0},
      {"MPI_REAL8", MPI_REAL8, FLOATING, 8, 0},
      {"MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, COMPLEX, sizeof(float complex), 0},
      {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, COMPLEX, sizeof(double complex), 0},
      {"MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, sizeof(long double complex), 0},
      {"MPI_COMPLEX", MPI_COMPLEX, COMPLEX, 8, 0},
      {"MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, COMPLEX, 16, 0},
      {"MPI_COMPLEX8", MPI_COMPLEX8, COMPLEX, 8, 0},
      {"MPI_COMPLEX16", MPI_COMPLEX16, COMPLEX, 16, 0},
      {"MPI_BYTE", MPI_BYTE, BYTES, 1, 0},
      {"MPI_C_BOOL", MPI_C_BOOL, LOGICAL, 1, 0},
      {"MPI_CXX_BOOL", MPI_CXX_BOOL, LOGICAL, 1, 0},
      {"MPI_LOGICAL", MPI_LOGICAL, LOGICAL, 4, 0},
  };
  const MPI_Op ops[] = {MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD, MPI_LAND,
                        MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR,  MPI_BXOR};
  static const char* const names[] = {"MPI_MAX", "MPI_MIN",  "MPI_SUM",  "MPI_PROD", "MPI_LAND",
                                      "MPI_LOR", "MPI_LXOR", "MPI_BAND", "MPI_BOR",  "MPI_BXOR"};
  for (size_t t = 0; t < sizeof types / sizeof types[0]; ++t) {
    if (types[t].type == MPI_DATATYPE_NULL) continue;
    int size = 0;
    MPI_Type_size(types[t].type, &size);
    if (size != types[t].size)
      fail("MPI_Type_size", "%s has %d bytes, the program thinks %d", types[t].name, size, types[t].size);
    for (int op = 0; op < OPERATIONS; ++op) {
      if (allowed(&types[t], op)) cases = run(&types[t], op, names[op], ops[op], cases);
    }
  }
  return cases;
}

/// A type that consists of a value and an index.
struct pair {
  const char* name;
  MPI_Datatype type;
  struct type value, index;
  int index_at, extent;
};

static long run_pair(const struct pair* p, enum operation op, long cases) {
  const int rank = rank_in(MPI_COMM_WORLD), ranks = size_of(MPI_COMM_WORLD);
  const enum collective all[] = {ALLREDUCE, REDUCE, REDUCE_SCATTER_BLOCK, SCAN, EXSCAN};
  for (int c = 0; c < 5; ++c, ++cases) {
    const int whole = all[c] == REDUCE_SCATTER_BLOCK ? COUNT * ranks : COUNT;
    char* mine = checked_malloc((size_t)(whole * p->extent));
    char* got = checked_malloc((size_t)(whole * p->extent));
    memset(mine, 0, (size_t)(whole * p->extent));
    for (int i = 0; i < whole; ++i) {
      // Some values are equal: then the lower index wins.
      const int drawn = (rank * 3 + i) % 4 - 2;
      store(&p->value, (struct wide){drawn, drawn, 0}, mine + i * p->extent);
      store(&p->index, (struct wide){100 - rank * 7 + i, 100 - rank * 7 + i, 0},
            mine + i * p->extent + p->index_at);
    }
    MPI_Request request = MPI_REQUEST_NULL;
    const struct args args = {.send = mine,
                              .recv = got,
                              .recv_count = COUNT,
                              .recv_type = p->type,
                              .op = op == MAX ? MPI_MAXLOC : MPI_MINLOC,
                              .comm = MPI_COMM_WORLD};
    expect_success(call(all[c], &args, cases % 2 == 1 ? &request : NULL), name_of(all[c]), p->name);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    const int last = last_of(all[c], rank, ranks), first = all[c] == REDUCE_SCATTER_BLOCK ? rank * COUNT : 0;
    for (int i = 0; i < COUNT && last >= 0; ++i) {
      int best = first + i, best_value = (first + i) % 4 - 2, best_index = 100 + best;
      for (int r = 1; r <= last; ++r) {
        const int v = (r * 3 + best) % 4 - 2, index = 100 - r * 7 + best;
        if (v == best_value ? index < best_index : op == MAX ? v > best_value : v < best_value) {
          best_value = v;
          best_index = index;
        }
      }
      const struct wide v = load(&p->value, got + i * p->extent),
                        at = load(&p->index, got + i * p->extent + p->index_at);
      if (v.i + (int)v.re != best_value || at.i + (int)at.re != best_index) {
        fail(name_of(all[c]), "%s on %s: element %d is %d at %d, should be %d at %d",
             op == MAX ? "MPI_MAXLOC" : "MPI_MINLOC", p->name, i, (int)(v.i + (int)v.re),
             (int)(at.i + (int)at.re), best_value, best_index);
      }
    }
    free(mine);
    free(got);
  }
  return cases;
}

static long run_pairs(long cases) {
  const struct type f = {"", 0, FLOATING, 4, 0}, d = {"", 0, FLOATING, 8, 0}, l = {"", 0, FLOATING, 16, 0};
  const struct type s = {"", 0, SIGNED, 2, 0}, i = {"", 0, SIGNED, 4, 0}, n = {"", 0, SIGNED, 8, 0};
  const struct pair pairs[] = {
      {"MPI_FLOAT_INT", MPI_FLOAT_INT, f, i, 4, 8},
      {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, d, i, 8, 16},
      {"MPI_LONG_INT", MPI_LONG_INT, n, i, 8, 16},
      {"MPI_2INT", MPI_2INT, i, i, 4, 8},
      {"MPI_SHORT_INT", MPI_SHORT_INT, s, i, 4, 8},
      {"MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, l, i, 16, 32},
      {"MPI_2REAL", MPI_2REAL, f, f, 4, 8},
      {"MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, d, d, 8, 16},
      {"MPI_2INTEGER", MPI_2INTEGER, i, i, 4, 8},
  };
  for (size_t p = 0; p < sizeof pairs / sizeof pairs[0]; ++p) {
    if (pairs[p].type == MPI_DATATYPE_NULL) continue;
    cases = run_pair(&pairs[p], MAX, cases);
    cases = run_pair(&pairs[p], MIN, cases);
  }
  return cases;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  return finish("operators", run_pairs(run_named(0)));
}

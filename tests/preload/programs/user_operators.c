// SPDX-License-Identifier: Apache-2.0
//
// Tests user-defined operators: products of matrices, which are not commutative, concatenation of
// words in a type with gaps, and commutative sums. Each operator counts its calls and elements; the
// counts must be within the limits of MPI.
#include <string.h>

#include "check.h"
#include "known_faults.h"

/// The operators count their calls and elements here, because MPI passes them no user pointer.
static long calls_seen = 0, elements_seen = 0, wrong_types = 0;
static MPI_Datatype expected_type;

static void saw(const int* count, const MPI_Datatype* type) {
  ++calls_seen;
  elements_seen += *count;
  // MPI may pass a copy of the datatype, so only size and extent are compared.
  int size = 0, expected_size = 0;
  MPI_Aint low, extent, expected_low, expected_extent;
  MPI_Type_size(*type, &size);
  MPI_Type_get_extent(*type, &low, &extent);
  MPI_Type_size(expected_type, &expected_size);
  MPI_Type_get_extent(expected_type, &expected_low, &expected_extent);
  if (size != expected_size || low != expected_low || extent != expected_extent) ++wrong_types;
}

// 2x2 matrices modulo a prime.
static void multiply(const unsigned* a, const unsigned* b, unsigned* c) {
  enum { PRIME = 10007 };
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) c[2 * i + j] = (a[2 * i] * b[j] + a[2 * i + 1] * b[2 + j]) % PRIME;
  }
}

static void matrix_value(char* element, int rank, long index) {
  const unsigned m[4] = {(unsigned)(rank + 2), (unsigned)(index % 50 + 1), 1,
                         (unsigned)(rank * 3 + index) % 97};
  memcpy(element, m, sizeof m);
}

static void matrix_combine(const char* left, const char* right, char* result) {
  unsigned a[4], b[4], c[4];
  memcpy(a, left, sizeof a);
  memcpy(b, right, sizeof b);
  multiply(a, b, c);
  memcpy(result, c, sizeof c);
}

static void matrix_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  saw(count, type);
  for (int i = 0; i < *count; ++i) {
    char result[16];
    matrix_combine((char*)in + 16 * i, (char*)inout + 16 * i, result);
    memcpy((char*)inout + 16 * i, result, sizeof result);
  }
}

// Words of at most 12 letters with their length, in a datatype of 24 bytes that begins 4 bytes
// below the address. The left word comes first.
struct word {
  int length;
  char text[12];
};

static void word_value(char* element, int rank, long index) {
  struct word w = {1, {(char)('a' + (rank * 5 + index) % 26)}};
  memcpy(element, &w, sizeof w);
}

static void word_combine(const char* left, const char* right, char* result) {
  struct word a, b;
  memcpy(&a, left, sizeof a);
  memcpy(&b, right, sizeof b);
  memcpy(a.text + a.length, b.text, (size_t)b.length);
  a.length += b.length;
  memcpy(result, &a, sizeof a);
}

enum { WORD_EXTENT = 32 };

/// The letters are at offset 0, and the length is at offset 16.
static void word_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  saw(count, type);
  for (int i = 0; i < *count; ++i) {
    struct word a, b;
    char *left = (char*)in + i * WORD_EXTENT, *right = (char*)inout + i * WORD_EXTENT;
    memcpy(&a.length, left + 16, 4);
    memcpy(a.text, left, 12);
    memcpy(&b.length, right + 16, 4);
    memcpy(b.text, right, 12);
    char joined[sizeof(struct word)];
    word_combine((char*)&a, (char*)&b, joined);
    memcpy(right + 16, joined, 4);
    memcpy(right, joined + 4, 12);
  }
}

// A sum of two shorts that are in reverse order and far apart.
static void short_value(char* element, int rank, long index) {
  const short s[2] = {(short)(rank * 100 + index), (short)(index - rank)};
  memcpy(element, s, sizeof s);
}

static void short_combine(const char* left, const char* right, char* result) {
  short a[2], b[2];
  memcpy(a, left, sizeof a);
  memcpy(b, right, sizeof b);
  a[0] = (short)(a[0] + b[0]);
  a[1] = (short)(a[1] + b[1]);
  memcpy(result, a, sizeof a);
}

static void short_op(void* in, void* inout, int* count, MPI_Datatype* type) {
  saw(count, type);
  for (int i = 0; i < *count; ++i) {
    for (int at = -6; at <= 4; at += 10) {
      short a, b;
      memcpy(&a, (char*)in + i * 16 + at, sizeof a);
      memcpy(&b, (char*)inout + i * 16 + at, sizeof b);
      b = (short)(a + b);
      memcpy((char*)inout + i * 16 + at, &b, sizeof b);
    }
  }
}

static struct layout resized_layout(struct layout l, int n, const int* lengths, const MPI_Aint* at,
                                    const MPI_Datatype* types, MPI_Aint low) {
  MPI_Datatype old;
  MPI_Type_create_struct(n, lengths, at, types, &old);
  MPI_Type_create_resized(old, low, l.extent, &l.type);
  MPI_Type_free(&old);
  MPI_Type_commit(&l.type);
  return l;
}

/// Checks the elements that a rank's operator combined in a call. No rank may combine more than all
/// pairs. All ranks together must combine at least as many as a result needs.
static void check_calls(enum collective which, const struct reduction* r, const char* name) {
  const int ranks = size_of(r->comm);
  long all[2] = {elements_seen, wrong_types}, sums[2];
  // Uses messages, so that no collective checks another one.
  if (rank_in(r->comm) == 0) {
    memcpy(sums, all, sizeof sums);
    for (int i = 1; i < ranks; ++i) {
      MPI_Recv(all, 2, MPI_LONG, i, 4711, r->comm, MPI_STATUS_IGNORE);
      sums[0] += all[0];
      sums[1] += all[1];
    }
    const long elements = elements_of(which, r, ranks);
    const long least =
        (ranks - 1) * (which == EXSCAN ? (ranks > 1 ? elements * (ranks - 2) / (ranks - 1) : 0) : elements);
    const long most = (long)ranks * ranks * 2 * (elements > 0 ? elements : 1);
    if (sums[0] < least || sums[0] > most) {
      fail(name_of(which), "%s: the operator was given %ld elements, should be from %ld to %ld", name,
           sums[0], least, most);
    }
    if (sums[1] != 0)
      fail(name_of(which), "%s: the operator was given a type of another size or extent", name);
  } else {
    MPI_Send(all, 2, MPI_LONG, 0, 4711, r->comm);
  }
}

static long run(const struct algebra* algebra, int all) {
  const int ranks = size_of(MPI_COMM_WORLD);
  static const long counts[] = {0, 1, 5, 300};
  long cases = 0;
  expected_type = algebra->layout->type;
  for (enum collective which = REDUCE; which <= EXSCAN; ++which) {
    for (int c = 0; c < 4; ++c) {
      for (int root = 0; root < (which == REDUCE ? ranks : 1); ++root) {
        for (int way = 0; way < 4; ++way) {
          const struct reduction r = {MPI_COMM_WORLD, algebra, counts[c], root, way / 2};
          if (!all && reduction_has_known_fault(which, &r, way % 2)) continue;
          struct job job;
          make_reduction(&job, which, &r);
          calls_seen = elements_seen = wrong_types = 0;
          start(&job, way % 2);
          char name[sizeof job.name];
          memcpy(name, job.name, sizeof name);
          complete(&job);
          check_calls(which, &r, name);
          ++cases;
        }
      }
    }
  }
  return cases;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int all = argument(argc, argv, "all", 0) != 0;
  MPI_Op matrices, words, shorts;
  MPI_Op_create(matrix_op, 0, &matrices);
  MPI_Op_create(word_op, 0, &words);
  MPI_Op_create(short_op, 1, &shorts);
  struct layout matrix = {
      .name = "matrix", .items = 4, .offset = {0, 4, 8, 12}, .size = {4, 4, 4, 4}, .extent = 16};
  MPI_Type_contiguous(4, MPI_UNSIGNED, &matrix.type);
  MPI_Type_commit(&matrix.type);
  const struct layout word = resized_layout(
      (struct layout){.name = "word", .items = 2, .offset = {16, 0}, .size = {4, 12}, .extent = WORD_EXTENT},
      2, (int[]){1, 12}, (MPI_Aint[]){16, 0}, (MPI_Datatype[]){MPI_INT, MPI_CHAR}, -4);
  const struct layout two = resized_layout(
      (struct layout){.name = "shorts", .items = 2, .offset = {4, -6}, .size = {2, 2}, .extent = 16}, 2,
      (int[]){1, 1}, (MPI_Aint[]){4, -6}, (MPI_Datatype[]){MPI_SHORT, MPI_SHORT}, -8);
  const struct algebra algebras[] = {{"matrices", &matrix, matrices, 16, matrix_value, matrix_combine},
                                     {"words", &word, words, 16, word_value, word_combine},
                                     {"sums", &two, shorts, 4, short_value, short_combine}};
  long cases = 0;
  for (int i = 0; i < 3; ++i) {
    if (size_of(MPI_COMM_WORLD) > 12 && i == 1) continue;  // longer than a word
    cases += run(&algebras[i], all);
  }
  MPI_Op_free(&matrices);
  MPI_Op_free(&words);
  MPI_Op_free(&shorts);
  for (int i = 0; i < 3; ++i) {
    MPI_Datatype type = algebras[i].layout->type;
    MPI_Type_free(&type);
  }
  return finish("user_operators", cases);
}

// SPDX-License-Identifier: Apache-2.0
//
// One call in the abstract: what every rank of it would pass, without memory. What the oracle, the abstract
// run and the claims are about.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proof/formula.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::proof {

/// A table of blocks, in elements.
struct layout {
  std::vector<std::size_t> counts, displs;

  std::size_t extent() const noexcept;
};

struct plan {
  collective what = collective::barrier;
  int ranks = 1;
  int root = 0;
  bool in_place = false;
  bool ordered = false;  ///< the operator does not commute
  algorithm_parameter_values parameter_values{};
  std::size_t element_bytes = 8;
  int first_group = 0;  ///< ranks [0, first_group) are one group, the others the other; 0: one group

  std::vector<std::size_t> counts;                      ///< by rank: what table::uniform goes by
  std::vector<layout> in, out;                          ///< by rank; empty where a rank has none
  std::vector<std::vector<int>> sources, destinations;  ///< by rank, of neighbour collectives

  /// In place on this rank: of rooted collectives only the root is.
  bool in_place_at(int rank) const noexcept;
  /// input and output are one memory there, the operand in it.
  bool aliased_at(int rank) const noexcept;
  /// Elements of the caller's buffers.
  std::size_t input_size(int rank) const noexcept;
  std::size_t output_size(int rank) const noexcept;
  /// The ranks that this one gets data from: all, or the other group.
  struct range {
    int first, last;
    int size() const noexcept { return last - first; }
  };
  range others(int rank) const noexcept;
  range own_group(int rank) const noexcept;
  bool gives(int rank) const noexcept;     ///< has an operand; of bcast and scatter the root alone
  bool receives(int rank) const noexcept;  ///< has a result; of reduce and gather the root alone

  /// "allreduce of 7 ranks, 12 elements, in place, ordered, segment 64"
  std::string text() const;
};

/// How the blocks of vector forms are chosen.
enum class blocks_are : std::uint8_t {
  uneven,  ///< with zeros; receive tables backwards with gaps, send tables with gaps
  even,    ///< all as long as asked for, dense
};
/// What an algorithm may be asked for; `count` is the elements of a call, or of a block. Neighbours of rank r
/// in graph number `graph`: 0 a ring, 1 a star around rank 0, 2 drawn.
struct case_options {
  collective what = collective::barrier;
  int ranks = 1;
  int root = 0;
  bool in_place = false;
  bool ordered = false;
  algorithm_parameter_values parameter_values{};
  std::size_t count = 1;
  std::size_t element_bytes = 8;
  blocks_are blocks = blocks_are::uneven;
  int first_group = 0;
  int graph = 0;
};
plan make_plan(const case_options& w);

/// What rank `rank` of the plan shows the algorithm. It refers to the plan.
shape shape_of(const plan& p, int rank);

using writer = std::function<void(const shape&, builder&)>;
/// One schedule a rank.
std::vector<schedule> write_all(const writer& write, const plan& p);

/// What the formulas of the heads may name, besides the parameters that the algorithm has.
struct formula_name {
  std::string_view name, what;
};
inline constexpr formula_name formula_names[] = {
    {"p", "the number of ranks; between two groups, of both"},
    {"root", "the root"},
    {"n",
     "bytes of the whole vector: of the operand in bcast, reduce, allreduce, scan and exscan; `p * b` if "
     "every rank has a block of the same length; the sum of all blocks in forms with a count for each rank; "
     "in alltoallv, alltoallw and neighbor_alltoallv the maximum that one rank sends"},
    {"b", "bytes of a block; of the longest one if they differ"},
    {"pof2", "the largest power of two that is not greater than `p`"},
    {"segments", "`ceil(n / segment)`, for algorithms that have this parameter"},
    {"ordered", "1 if the operator does not commute, else 0"},
    {"in_place", "1 if the call is in place, else 0"},
    {"word", "8, the bytes of a counter"},
    {"first", "size of the first of two groups"},
    {"second", "size of the second of two groups"},
    {"sources", "the largest number of neighbours that a rank receives from"},
    {"destinations", "the largest number of neighbours that a rank sends to"}};
/// Their values.
variables variables_of(const plan& p);

}  // namespace tutti::proof

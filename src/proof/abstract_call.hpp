// SPDX-License-Identifier: Apache-2.0
//
// An abstract call: what every rank would pass, without memory. The oracle, the abstract run and
// the claims use it.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "proof/formula.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::proof {

using namespace tutti::detail;

/// The counts and displacements of a table of blocks, in elements.
struct block_table {
  std::vector<std::size_t> counts, displs;

  std::size_t extent() const noexcept;
};

struct abstract_call {
  collective what = collective::barrier;
  int ranks = 1;
  int root = 0;
  bool in_place = false;
  bool ordered = false;  ///< the operator does not commute
  algorithm_parameter_values parameter_values{};
  std::size_t element_bytes = 8;
  /// ranks [0, first_group) form one group, all other ranks the second; 0: one group
  int first_group = 0;

  std::vector<std::size_t> counts;                      ///< by rank: for partition::uniform
  std::vector<block_table> in, out;                     ///< by rank; empty if a rank has none
  std::vector<std::vector<int>> sources, destinations;  ///< by rank; for neighbor collectives
  /// If only one rank has tables: no block of any rank is longer. Otherwise 0.
  std::size_t longest_block = 0;

  /// Returns whether the call is in place on this rank. A rooted collective is in place on its root
  /// only.
  bool in_place_at(int rank) const noexcept;
  /// Returns whether input and output are one buffer on this rank, which contains the operand.
  bool aliased_at(int rank) const noexcept;
  /// The sizes of the caller's buffers, in elements.
  std::size_t input_size(int rank) const noexcept;
  std::size_t output_size(int rank) const noexcept;
  /// Ranks first .. last - 1.
  struct range {
    int first, last;
    int size() const noexcept { return last - first; }
  };
  /// The ranks from which this rank receives data: all ranks, or those of the other group.
  range remote_group(int rank) const noexcept;
  range local_group(int rank) const noexcept;
  bool has_operand(int rank) const noexcept;  ///< in bcast and scatter only the root has one
  bool has_result(int rank) const noexcept;   ///< in reduce and gather only the root has one

  /// "allreduce of 7 ranks, 12 elements of 8 bytes, in place, in order, segment 64"
  std::string text() const;
};

/// The kind of block lengths in vector forms.
enum class blocks_are : std::uint8_t {
  uneven,  ///< with zeros; receive tables in reverse order with gaps, send tables with gaps
  even,    ///< all of the requested length, without gaps
};
/// The options of a test case. `count` is the number of elements of a call or of a block. `graph`
/// selects the neighbors: 0 a ring, 1 a star around rank 0, 2 pseudorandom.
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
abstract_call make_abstract_call(const case_options& w);
/// The same with tables and neighbors of this rank only: O(p) memory. It serves what concerns this
/// rank alone.
abstract_call make_abstract_call(const case_options& w, int rank);

/// The shape of the call on one rank. It refers to `p`, which must outlive it.
shape shape_of(const abstract_call& p, int rank);

using writer = std::function<void(const shape&, builder&)>;
/// Writes one schedule for each rank.
std::vector<schedule> write_all(const writer& write, const abstract_call& p);

/// The names that formulas of heads may use, besides the algorithm's parameters.
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
    {"sources", "the largest number of neighbors that a rank receives from"},
    {"destinations", "the largest number of neighbors that a rank sends to"}};
/// The values of these names and of the parameters.
variables variables_of(const abstract_call& p);
/// The same without tables. If the blocks of an alltoallv are uneven, it takes O(p^2) time.
variables variables_of(const case_options& w);

}  // namespace tutti::proof

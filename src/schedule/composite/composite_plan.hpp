// SPDX-License-Identifier: Apache-2.0
//
// A composite plan: what one rank does in a composed call, as data. It contains calls of other
// collectives on all or some of the ranks, with copies and combinations between them. They work on
// the caller's buffers and on scratch memory. A plan is valid for one count and contains no
// addresses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "tutti/collective.hpp"

namespace tutti::detail {

/// A position in a buffer (input, output or scratch0). `offset` counts elements from its beginning.
struct area {
  buffer where = buffer::input;
  std::size_t offset = 0;

  friend constexpr area operator+(area a, std::size_t elements) noexcept {
    return {a.where, a.offset + elements};
  }
  friend constexpr bool operator==(const area&, const area&) = default;
};

/// An inner call: a collective that a composition calls. Element, operator and operator order are
/// those of the composed call. The members mean the same as in `call` (tutti/call.hpp), but `root`
/// is a position in the group.
struct subcall {
  collective what = collective::barrier;
  bool in_place = false;
  /// the call uses the nonblocking form of the engine's native collective
  bool nonblocking = false;
  int root = 0;
  std::size_t count = 0;
  area input{}, output{};
  std::vector<std::size_t> in_counts, in_displs, out_counts, out_displs;  ///< of vector forms

  /// index in composite_plan::groups; 0: all ranks. The planner sets it.
  std::int32_t group = 0;
  /// sequence number of the call, the same on all members. The planner sets it.
  std::uint32_t sequence_number = 0;
};

/// Copies `blocks` blocks of n elements each. The distances are significant if there are several
/// blocks.
struct copy_step {
  area from{}, to{};
  std::size_t n = 0, blocks = 1, from_distance = 0, to_distance = 0;
};
/// Combines n elements: to = left op right.
struct combine_step {
  area left{}, right{}, to{};
  std::size_t n = 0;
};

struct composite_step {
  enum class kind : std::uint8_t { start, wait, copy, combine };
  kind what = kind::start;
  std::uint32_t which = 0;  ///< index in calls (start, wait), copies or combinations
};

struct composite_plan {
  std::vector<composite_step> steps;
  std::vector<subcall> calls;
  std::vector<copy_step> copies;
  std::vector<combine_step> combinations;
  /// The ranks of each group, by position in the group. groups[0] is empty and means all ranks.
  std::vector<std::vector<int>> groups{1};
  std::size_t scratch = 0;  ///< elements of scratch0
};

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// A program: what one rank does in a composed call, as data. Calls of other collectives, on the same ranks or
// on some of them, and copies and combinations between them, over the caller's buffers and scratch. It holds
// for one count; addresses are not in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"
#include "tutti/collective.hpp"

namespace tutti {

/// Where something begins, in elements from the beginning of a buffer: input, output or scratch0.
struct area {
  buffer where = buffer::input;
  std::size_t at = 0;

  friend constexpr area operator+(area a, std::size_t elements) noexcept {
    return {a.where, a.at + elements};
  }
  friend constexpr bool operator==(const area&, const area&) = default;
};

/// A collective that a composition calls. Element, operator and its order are those of the whole call. As in
/// `call` (tutti/call.hpp), but ranks are places in the group.
struct subcall {
  collective what = collective::barrier;
  bool in_place = false;
  bool nonblocking = false;  ///< the engine's own collective is to be its nonblocking one
  int root = 0;
  std::size_t count = 0;
  area input{}, output{};
  std::vector<std::size_t> in_counts, in_displs, out_counts, out_displs;  ///< of vector forms

  std::int32_t group = 0;    ///< of composite_plan::groups; 0: all ranks. Set by the planner, as the next:
  std::uint32_t number = 0;  ///< tells the calls of a program apart; the same on all members
};

/// n elements each of `blocks` blocks, whose distances are given where there are several.
struct copying {
  area from{}, to{};
  std::size_t n = 0, blocks = 1, from_distance = 0, to_distance = 0;
};
/// to = left op right, n elements.
struct combining {
  area left{}, right{}, to{};
  std::size_t n = 0;
};

struct composite_step {
  enum class kind : std::uint8_t { start, wait, copy, combine };
  kind what = kind::start;
  std::uint32_t which = 0;  ///< of calls (start, wait), copies or combinations
};

struct composite_plan {
  std::vector<composite_step> steps;
  std::vector<subcall> calls;
  std::vector<copying> copies;
  std::vector<combining> combinations;
  /// Ranks of the composed call, by place. groups[0] is empty: all.
  std::vector<std::vector<int>> groups{1};
  std::size_t scratch = 0;  ///< elements
};

}  // namespace tutti

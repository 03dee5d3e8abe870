// SPDX-License-Identifier: Apache-2.0
//
// Defines inner calls on symbols: the elements that each member reads and writes, the agreement
// between members, and the effect of a call.
#pragma once

#include <stdexcept>
#include <vector>

#include "proof/symbols.hpp"
#include "schedule/composite/composite_plan.hpp"

namespace tutti::proof {

using namespace tutti::detail;

/// Elements of a buffer, from `first` up to but not including `end`.
struct element_range {
  buffer where = buffer::input;
  std::size_t first = 0, end = 0;

  bool empty() const noexcept { return first == end; }
  bool overlaps(const element_range& o) const noexcept {
    return where == o.where && first < o.end && o.first < end;
  }
};

/// The elements that a member of a call accesses. Elements that it reads and writes are in both
/// lists.
struct accesses {
  std::vector<element_range> reads, writes;
};

/// Thrown if the members of a call do not agree, or if tables do not match the group.
struct invalid_call : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Throws wrong_call if the number of entries in a table differs from the number of members.
accesses accesses_of(const subcall& c, int position, int members);

/// The buffers of one rank: input, output, scratch.
struct memory {
  std::vector<symbol> cells[3];

  std::vector<symbol>& of(buffer b) noexcept { return cells[static_cast<int>(b)]; }
};

struct participant {
  const subcall* call;
  memory* buffers;
};
/// Throws wrong_call, with the difference in its message, if the parts do not belong to one call.
void require_agreement(const std::vector<participant>& members);
/// Performs the call. It reads all operands before it writes anything.
void perform(const std::vector<participant>& members, symbols& s);

}  // namespace tutti::proof

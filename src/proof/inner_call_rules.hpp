// SPDX-License-Identifier: Apache-2.0
//
// The calls within programs, in symbols: which elements each member of one reads and writes, whether the
// members agree, and what it does.
#pragma once

#include <stdexcept>
#include <vector>

#include "proof/symbols.hpp"
#include "schedule/composite/composite_plan.hpp"

namespace tutti::proof {

/// Elements of a buffer, from `first` to before `end`.
struct stretch {
  buffer where = buffer::input;
  std::size_t first = 0, end = 0;

  bool empty() const noexcept { return first == end; }
  bool meets(const stretch& o) const noexcept { return where == o.where && first < o.end && o.first < end; }
};

/// What a member's part of a call touches. What it reads and writes too stands in both.
struct touched {
  std::vector<stretch> reads, writes;
};

/// A call whose members do not fit together, or tables that do not fit the group.
struct wrong_call : std::runtime_error {
  using runtime_error::runtime_error;
};

/// Throws wrong_call where the tables have another number of entries than the group has members.
touched touched_by(const subcall& c, int place, int members);

/// The memory of one rank: input, output, scratch.
struct memory {
  std::vector<symbol> cells[3];

  std::vector<symbol>& of(buffer b) noexcept { return cells[static_cast<int>(b)]; }
};

struct participant {
  const subcall* call;
  memory* own;
};
/// Throws wrong_call, saying what differs, where the parts are not those of one call.
void require_agreement(const std::vector<participant>& members);
/// Does it: all operands are read before anything is written.
void carry_out(const std::vector<participant>& members, symbols& s);

}  // namespace tutti::proof

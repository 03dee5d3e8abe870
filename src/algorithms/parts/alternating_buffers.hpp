// SPDX-License-Identifier: Apache-2.0
//
// Assigns buffers to the consecutive partial results of one rank. A result that is written while
// the previous one is being sent needs another buffer. The receiver may read what was sent until
// the round is over. Later results may reuse the buffer. The last result should be in the output.
#pragma once

#include "schedule/builder.hpp"

namespace tutti::parts {

class alternating_buffers {
 public:
  /// There are `busy` results that are written while sending, and then `idle` ones. In place, the
  /// operand is in the output, so the first busy result must not be written there.
  constexpr alternating_buffers(int busy, int idle, bool in_place)
      : busy_(busy), idle_(idle), first_in_scratch_(in_place || (idle == 0 && busy % 2 == 0)) {}

  constexpr buffer of(int i) const {
    const bool scratch = i < busy_ && (i % 2 == 0) == first_in_scratch_;
    return scratch ? buffer::scratch0 : buffer::output;
  }
  constexpr bool use_scratch() const { return busy_ > 1 || (busy_ == 1 && first_in_scratch_); }
  /// Returns whether the last result must be copied to the output.
  constexpr bool end_in_scratch() const {
    return busy_ > 0 && idle_ == 0 && of(busy_ - 1) == buffer::scratch0;
  }

 private:
  int busy_, idle_;
  bool first_in_scratch_;
};

}  // namespace tutti::parts

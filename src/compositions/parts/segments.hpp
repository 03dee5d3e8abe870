// SPDX-License-Identifier: Apache-2.0
//
// Cuts a vector into segments of `segment` bytes. The segments are longer if the composite plan
// would have more than `max_calls` calls.
#pragma once

#include <algorithm>

#include "schedule/composite/planner.hpp"

namespace tutti::compositions::parts {

class segments {
 public:
  static constexpr std::size_t max_calls = 1024;

  /// `calls` is the number of inner calls for each segment.
  explicit segments(const planner& p, std::size_t calls = 1) : elements_(p.count()) {
    const std::size_t n = std::max<std::size_t>(1, max_calls / calls);
    length_ = std::max(p.elements_of(p.of(algorithm_parameter::segment)), (elements_ + n - 1) / n);
    count_ = std::max<std::size_t>(1, (elements_ + length_ - 1) / length_);
  }
  std::size_t count() const noexcept { return count_; }  ///< at least 1
  std::size_t begin(std::size_t i) const noexcept { return i * length_; }
  std::size_t length(std::size_t i) const noexcept { return std::min(length_, elements_ - begin(i)); }

 private:
  std::size_t elements_, length_ = 1, count_ = 1;
};

}  // namespace tutti::compositions::parts

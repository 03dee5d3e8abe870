// SPDX-License-Identifier: Apache-2.0
//
// Cuts a vector into segments of `segment` bytes. The segments are longer if the composite plan
// would have more than `most` calls.
#pragma once

#include <algorithm>

#include "schedule/composite/planner.hpp"

namespace tutti::compositions::parts {

class segments {
 public:
  static constexpr std::size_t most = 1024;

  /// `calls` is the number of inner calls for each segment.
  explicit segments(const planner& p, std::size_t calls = 1) : count_(p.count()) {
    const std::size_t number = std::max<std::size_t>(1, most / calls);
    each_ = std::max(p.elements_of(p.of(algorithm_parameter::segment)), (count_ + number - 1) / number);
    number_ = std::max<std::size_t>(1, (count_ + each_ - 1) / each_);
  }
  std::size_t number() const noexcept { return number_; }  ///< at least 1
  std::size_t begin(std::size_t i) const noexcept { return i * each_; }
  std::size_t length(std::size_t i) const noexcept { return std::min(each_, count_ - begin(i)); }

 private:
  std::size_t count_, each_ = 1, number_ = 1;
};

}  // namespace tutti::compositions::parts

// SPDX-License-Identifier: Apache-2.0
//
// Checks the self-consistent performance guidelines (Traff, Gropp, Thakur 2010). A collective
// should not be slower than other collectives of the library that together do the same work. It is
// a pure function of measurements.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tutti/collective.hpp"

namespace tutti::tuning {

/// The time of one collective; `bytes` is the size of the whole vector, or of all blocks together
/// (tuning/measured_call.hpp).
struct figure {
  collective what = collective::barrier;
  std::size_t bytes = 0;
  double us = 0, spread = 0;
};

struct violation {
  std::string rule;  ///< "allreduce(n) <= reduce(n) + bcast(n)"
  std::size_t bytes = 0;
  double left_us = 0, right_us = 0;

  double ratio() const noexcept { return left_us / right_us; }
};

/// "allreduce(n) <= reduce(n) + bcast(n)" and the others, without those that compare sizes
std::vector<std::string> guidelines();

/// The collectives that the guidelines mention.
std::vector<collective> guideline_collectives();

/// The rules that are violated by more than the noise of the compared figures, which is at least
/// `floor`. A rule is skipped if one of its figures was not measured.
std::vector<violation> violated(std::span<const figure> all, double floor);

}  // namespace tutti::tuning

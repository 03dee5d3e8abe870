// SPDX-License-Identifier: Apache-2.0
//
// Self-consistent performance guidelines (Traff, Gropp, Thakur 2010): what a library's collectives may never
// be slower than, since others of its own do the same work. A pure function of what was measured.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tutti/collective.hpp"

namespace tutti::tuning {

/// Of one collective; `bytes` are the whole vector, or all blocks together (tuning/measured_call.hpp).
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

/// "allreduce(n) <= reduce(n) + bcast(n)" and the others, without those about sizes
std::vector<std::string> guidelines();

/// The collectives that they are about.
std::vector<collective> in_guidelines();

/// Those that do not hold beyond the noise of what they compare, which is `floor` at least. A rule of which
/// a part was not measured says nothing.
std::vector<violation> violated(std::span<const figure> all, double floor);

}  // namespace tutti::tuning

// SPDX-License-Identifier: Apache-2.0
//
// What a job of the embedded engines is where its program does not say: for run(), and for the tools that
// tell or measure what it would do.
#pragma once

#include "core/environment.hpp"
#include "engines/embedded/sleep.hpp"

namespace tutti {

/// TUTTI_RANKS, or a rank for each core that this process may use.
inline int default_ranks() {
  return static_cast<int>(
      number_setting("TUTTI_RANKS", 1, 1000000, static_cast<std::uint64_t>(usable_cores())));
}

/// Threads while there is a core for each; fibers beyond, and where a seed is to decide who runs.
inline const char* default_engine(int ranks, bool seeded) {
  return seeded || ranks > usable_cores() ? "fibers" : "threads";
}

}  // namespace tutti

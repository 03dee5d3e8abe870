// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engines/embedded/job.hpp"
#include "transport/endpoint.hpp"

namespace tutti::detail {

/// Runs the program on one rank and reports its end to the job. No exception leaves it.
inline void rank_main(job& all, endpoint& ep, const rank_program& program) noexcept {
  try {
    program(ep);
  } catch (...) {
    const outcome end = failure_of(ep.rank());
    all.fail(end.failed_rank, end.what, end.text);
  }
  all.ended(ep.rank());
}

}  // namespace tutti::detail

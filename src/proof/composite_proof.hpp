// SPDX-License-Identifier: Apache-2.0
//
// Runs the composite plans of all ranks of a composed call on symbols. Every inner call follows the
// definition of its collective. The run guarantees only what a composition may assume: a call is
// complete when all members of its group have started it. Its areas belong to it from its start
// until the wait for it. Faults:
//   calls     members that differ in the collective, group, root, count, counts, in place; wrong
//             tables; sequence numbers that do not increase; a call that no step waits for, or that
//             a member never makes
//   areas     beyond a buffer; a read of uninitialized memory or of a gap of the caller's buffer; a
//             write to the input, to a gap, or to an output that only holds the operand; an access
//             to an area that belongs to a call; overlaps
//   results   an output element that differs from the definition; a barrier that a rank may leave
//             before another one has entered
#pragma once

#include <cstdint>
#include <vector>

#include "proof/abstract_call.hpp"
#include "proof/abstract_run.hpp"
#include "schedule/composite/planner.hpp"

namespace tutti::proof {

/// The call that a rank makes in the abstract call. If `everywhere` is set, an in-place rooted call
/// is in place on all ranks, not only on the root. The operands of the other ranks then are in
/// their outputs. The result refers to `p` and has no addresses.
call call_of(const abstract_call& p, int rank, bool everywhere = false);

/// Writes one composite plan for each rank, with the parameters of `p`. The topology must have the
/// same number of ranks.
std::vector<composite_plan> make_composite_plans(void (*write)(planner&), const abstract_call& p,
                                                 const hierarchy& topology, bool everywhere = false);

struct composite_outcome {
  /// the first fault found; for results, one for each rank. `round` is the index of a step here
  std::vector<fault> faults;
  std::uint64_t calls = 0;     ///< completed inner calls
  std::uint64_t combined = 0;  ///< elements that the operator combined
  bool ok() const noexcept { return faults.empty(); }
};

composite_outcome run_composite_plans(const abstract_call& p, const std::vector<composite_plan>& plans,
                                      bool everywhere = false);

}  // namespace tutti::proof

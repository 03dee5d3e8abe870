// SPDX-License-Identifier: Apache-2.0
//
// Runs the programs of all ranks of a composed call on symbols: every call that they make is the plain
// definition of its collective. Nothing but what a composition may rely on holds: a call is complete when all
// members of its group have started it, and its areas belong to it from its start to the wait for it. Faults:
//   calls     members that differ in the collective, group, root, count, counts, in place; wrong tables; a
//             number that does not grow; a call that nobody waits for, or that somebody never makes
//   areas     beyond a buffer; what holds nothing yet or is a gap of the caller's is read; input, a gap, or
//             what only lends its operand is written; what belongs to a call is touched; overlaps
//   results   an element of an output that is not what the definition says; a barrier that somebody leaves
//             while another may not have come
#pragma once

#include <cstdint>
#include <vector>

#include "proof/abstract_call.hpp"
#include "proof/abstract_run.hpp"
#include "schedule/composite/planner.hpp"

namespace tutti::proof {

/// The call that a rank of the plan makes. `everywhere`: in place not at the root of a rooted call alone, but
/// on all ranks, whose operands then stand in their outputs. Refers to the plan, and has no addresses.
call call_of(const plan& p, int rank, bool everywhere = false);

/// One program a rank, with the plan's knobs. The layout has as many ranks.
std::vector<composite_plan> programs_of(void (*write)(planner&), const plan& p, const hierarchy& layout,
                                        bool everywhere = false);

struct composite_outcome {
  std::vector<fault> faults;   ///< the first that was found; results: one a rank. A round is a step here
  std::uint64_t calls = 0;     ///< made together
  std::uint64_t combined = 0;  ///< elements that the operator was applied to
  bool ok() const noexcept { return faults.empty(); }
};

composite_outcome run_composite_plans(const plan& p, const std::vector<composite_plan>& programs,
                                      bool everywhere = false);

}  // namespace tutti::proof

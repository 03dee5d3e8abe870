// SPDX-License-Identifier: Apache-2.0
//
// A schedule or plan that was written and bound for a call, with the run that blocking calls reuse.
// schedule_store makes and owns these; call_cache and operations under way point to them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "runtime/executor/composite_run.hpp"
#include "runtime/executor/executor.hpp"
#include "runtime/trace/trace.hpp"
#include "selection/resolve.hpp"
#include "tutti/call.hpp"

namespace tutti::detail {

/// A composite plan with the bound schedules of its calls. It depends on all agreed values of the
/// call, and on the algorithm that the call names.
struct bound_composition {
  std::size_t count;
  element type;
  builtin_op op;
  std::string algorithm;  // the algorithm that the call names
  std::unique_ptr<bound_composite_plan> bound;
  std::vector<inner_call> inner_calls;  // for the trace; empty without one

  /// Never for vector forms, whose counts this does not hold.
  bool serves(const call& c) const noexcept {
    return c.count == count && c.type == type && c.op.which == op && !is_vector_form(c.what) &&
           (c.algorithm == nullptr ? algorithm.empty() : algorithm == c.algorithm);
  }
};

/// A call runs one of these: a schedule, the engine's collective, or a composition.
struct prepared_call {
  composed_choice composed;
  choice chosen;
  collective what;
  int root;
  bool in_place, commutative;
  const char* name;  // "allreduce/ring"
  // A schedule, or the engine's collective; null for a composition:
  std::unique_ptr<bound_schedule> bound;
  std::unique_ptr<schedule_run> blocking;
  // A composition:
  std::shared_ptr<bound_composition> plan;  // of the last blocking call
  std::unique_ptr<composite_run> blocking_composite;

  bool is_composed() const noexcept { return bound == nullptr; }
  bool is_native() const noexcept { return bound != nullptr && chosen.pure == nullptr; }
};

}  // namespace tutti::detail

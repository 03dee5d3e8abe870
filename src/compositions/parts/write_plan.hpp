// SPDX-License-Identifier: Apache-2.0
//
// Selects the plan of a composition that implements several collectives.
#pragma once

#include <initializer_list>

#include "schedule/composite/planner.hpp"

namespace tutti::compositions::parts {

/// The function that writes the plan of one collective.
struct collective_plan {
  collective what;
  void (*write)(planner&);
};

/// Writes the plan of the requested collective. The last entry serves also the collectives that
/// `all` does not name.
inline void write_plan(planner& p, std::initializer_list<collective_plan> all) {
  for (const collective_plan& one : all)
    if (one.what == p.what() || &one == all.end() - 1) return one.write(p);
}

}  // namespace tutti::compositions::parts

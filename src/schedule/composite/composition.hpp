// SPDX-License-Identifier: Apache-2.0
//
// A composition: a collective that is made of calls of other collectives. The head of its file is
// its catalogue entry (cmake/catalogue.cmake), the same as for a pure algorithm. Only the trees of
// pure algorithms decide its inner calls. So a composition can never choose itself or another
// composition.
#pragma once

#include "schedule/algorithm.hpp"
#include "schedule/composite/planner.hpp"

namespace tutti::detail {

struct composed_algorithm : catalogue_entry {
  std::string_view calls;  ///< the inner calls, in words
  void (*plan)(planner&) = nullptr;
};

/// Returns all compositions, sorted by name. The build generates it (cmake/catalogue.cmake).
std::span<const composed_algorithm* const> composition_catalogue() noexcept;

}  // namespace tutti::detail

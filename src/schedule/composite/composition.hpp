// SPDX-License-Identifier: Apache-2.0
//
// A composition: a collective made of other collectives. Its catalogue entry is the comment at the head of
// its file (cmake/catalogue.cmake), as with pure algorithms. What it calls is decided by the pure tree alone,
// so it can never choose itself or another composition.
#pragma once

#include "schedule/algorithm.hpp"
#include "schedule/composite/planner.hpp"

namespace tutti {

struct composed_algorithm : catalogue_entry {
  std::string_view calls;  ///< what it is made of, in words
  void (*plan)(planner&) = nullptr;
};

/// All compositions, by name. Generated (see cmake).
std::span<const composed_algorithm* const> composition_catalogue() noexcept;

}  // namespace tutti

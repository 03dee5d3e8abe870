// SPDX-License-Identifier: Apache-2.0
//
// The conditions of their own that engines let decision trees ask for: one table an engine. An endpoint takes
// a copy of its engine's and fills in what holds; tools read the names where no engine runs.
#pragma once

#include <span>
#include <string_view>

#include "engines/endpoint.hpp"

namespace tutti {

inline constexpr engine_condition embedded_conditions[] = {
    {"oversubscribed", "there are more ranks than cores that they may use", false},
};

inline constexpr engine_condition mpi_conditions[] = {
    {"open_mpi", "the engine stands on Open MPI", false},
    {"mpich", "the engine stands on MPICH, or on an MPI made from it", false},
    {"oversubscribed", "a machine of the job has more ranks than cores that they may use", false},
};

/// By the name of an engine; empty where there is none of that name. Nothing holds in it.
constexpr std::span<const engine_condition> known_conditions(std::string_view engine) noexcept {
  if (engine == "mpi") return mpi_conditions;
  if (engine == "threads" || engine == "fibers") return embedded_conditions;
  return {};
}

/// Fills in one of a copy of a table.
constexpr void state(std::span<engine_condition> conditions, std::string_view name, bool holds) noexcept {
  for (engine_condition& c : conditions)
    if (c.name == name) c.holds = holds;
}

}  // namespace tutti

// SPDX-License-Identifier: Apache-2.0
//
// The topology of TUTTI_NODES, for all engines.
#pragma once

#include <string_view>

#include "base/group/hierarchy.hpp"

namespace tutti::detail {

inline constexpr std::string_view topology_variable = "TUTTI_NODES";

/// Calls read_nodes(). Reports its error as a usage_error of "run" that names TUTTI_NODES.
hierarchy topology_from_text(std::string_view text, int ranks);

/// The topology of the ranks of this process: that of TUTTI_NODES, or else one node.
hierarchy topology_of_process(int ranks);

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// The layout that TUTTI_NODES pretends, for every engine alike.
#pragma once

#include <string_view>

#include "base/group/hierarchy.hpp"

namespace tutti {

inline constexpr std::string_view layout_variable = "TUTTI_NODES";

/// read_nodes(), whose fault becomes a usage_error of "run" that names TUTTI_NODES.
hierarchy pretended_layout(std::string_view text, int ranks);

/// Of the ranks of this process: what TUTTI_NODES says, or else one node.
hierarchy layout_of_process(int ranks);

}  // namespace tutti

// SPDX-License-Identifier: Apache-2.0
//
// Draws decision trees as SVG.
#pragma once

#include <string>
#include <string_view>

#include "selection/tree.hpp"

namespace tutti::tool {

using namespace tutti::detail;

/// `only`: the collective to draw; empty for all.
std::string tree_as_svg(const document& d, std::string_view title, std::string_view only = {});

}  // namespace tutti::tool

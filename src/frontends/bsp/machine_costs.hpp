// SPDX-License-Identifier: Apache-2.0
//
// The costs of supersteps on an engine of this process. The first section on it measures them.
#pragma once

#include <string_view>

#include "tutti/detail/bsp_abi.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::bsp {

/// `processes` is 0 if no section has run on that engine yet.
TUTTI_API machine_costs measured_costs(std::string_view engine);

}  // namespace tutti::bsp

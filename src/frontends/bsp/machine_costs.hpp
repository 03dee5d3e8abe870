// SPDX-License-Identifier: Apache-2.0
//
// What supersteps cost on an engine of this process, as the first section on it has measured.
#pragma once

#include <string_view>

#include "tutti/detail/bsp_abi.hpp"

namespace tutti::bsp {

/// `processes` is 0 where no section has been on that engine yet.
figures known_costs(std::string_view engine);

}  // namespace tutti::bsp

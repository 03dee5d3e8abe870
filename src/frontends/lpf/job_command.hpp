// SPDX-License-Identifier: Apache-2.0
//
// What the first process of a launcher's job tells the others to do.
#pragma once

#include <vector>

#include "frontends/lpf/function_location.hpp"
#include "lpf/core.h"

namespace tutti::lpf {

struct order {
  lpf_pid_t processes = 0;  ///< of the section; 0: end
  function_location spmd;
  std::vector<function_location> symbols;
};

std::vector<char> written(const order& what);
order read_order(const std::vector<char>& text);

}  // namespace tutti::lpf

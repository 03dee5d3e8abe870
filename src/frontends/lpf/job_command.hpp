// SPDX-License-Identifier: Apache-2.0
//
// The commands that the first process of a launcher's job sends to the others.
#pragma once

#include <vector>

#include "frontends/lpf/function_location.hpp"
#include "lpf/core.h"

namespace tutti::lpf {

struct order {
  lpf_pid_t processes = 0;  ///< number of processes of the section; 0: end
  function_location spmd;
  std::vector<function_location> symbols;
};

std::vector<char> written(const order& what);
order read_order(const std::vector<char>& text);

}  // namespace tutti::lpf

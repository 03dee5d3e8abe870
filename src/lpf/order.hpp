// SPDX-License-Identifier: Apache-2.0
//
// What the first process of a launcher's job tells the others to do.
#pragma once

#include <vector>

#include "lpf/code_place.hpp"
#include "lpf/core.h"

namespace tutti::lpf {

struct order {
  lpf_pid_t processes = 0;  ///< of the section; 0: end
  code_place spmd;
  std::vector<code_place> symbols;
};

std::vector<char> written(const order& what);
order read_order(const std::vector<char>& text);

}  // namespace tutti::lpf

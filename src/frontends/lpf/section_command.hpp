// SPDX-License-Identifier: Apache-2.0
//
// The commands that the first process of a launched job sends to the waiting processes.
#pragma once

#include <vector>

#include "frontends/lpf/function_location.hpp"
#include "lpf/core.h"

namespace tutti::lpf {

/// Run a section, or end.
struct section_command {
  lpf_pid_t processes = 0;  ///< number of processes of the section; 0: end
  function_location spmd;
  std::vector<function_location> symbols;
};

std::vector<char> serialize(const section_command& command);
/// Throws std::runtime_error if the data are truncated.
section_command deserialize(const std::vector<char>& data);

}  // namespace tutti::lpf

// SPDX-License-Identifier: Apache-2.0
//
// The machine that --machine names: one of the folder machines/, which the build embeds, or a file.
#pragma once

#include <string>

#include "simulation/machine_model.hpp"

namespace tutti::tool {

struct machine_argument {
  simulation::machine made;
  std::string text;  ///< of the file
};

/// Throws called_wrongly, with the first fault of the file and its place.
machine_argument read_machine_argument(const std::string& name);

/// A line for each machine of the folder, for the help of a command.
std::string machine_list();

}  // namespace tutti::tool

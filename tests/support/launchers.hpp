// SPDX-License-Identifier: Apache-2.0
//
// The launchers of the MPIs that tutti has a module for here.
#pragma once

#include <string>
#include <vector>

namespace tests {

struct mpi_launcher {
  std::string mpi;      // "openmpi"
  std::string command;  // for a shell, with the variables in front that it needs; "-n 3 PROGRAM" follows
};

std::vector<mpi_launcher> mpi_launchers();

}  // namespace tests

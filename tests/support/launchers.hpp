// SPDX-License-Identifier: Apache-2.0
//
// The launchers of the MPIs for which tutti has a module here.
#pragma once

#include <string>
#include <vector>

namespace tests {

struct mpi_launcher {
  std::string mpi;  // "openmpi"
  std::string command;  // for a shell, with its variables; "-n 3 PROGRAM" follows
};

std::vector<mpi_launcher> mpi_launchers();

}  // namespace tests

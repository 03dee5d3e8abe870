// SPDX-License-Identifier: Apache-2.0
#include "support/launchers.hpp"

#include <sstream>

namespace tests {

// TUTTI_LAUNCHERS: "name|command@" for each MPI.
std::vector<mpi_launcher> mpi_launchers() {
  std::istringstream text(TUTTI_LAUNCHERS);
  std::vector<mpi_launcher> all;
  for (std::string one; std::getline(text, one, '@');)
    all.push_back({one.substr(0, one.find('|')), one.substr(one.find('|') + 1)});
  return all;
}

}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
//
// Reads the file of tests/simgrid/selector_times: how long the collectives of four MPIs take in
// SimGrid. A call counts with the time of the fastest MPI.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

struct selector_cell {
  std::string machine, collective;
  int ranks = 0;
  std::size_t bytes = 0;  ///< of a block, or of the vector if there are no blocks
  std::string fastest;    ///< the name of SMPI's selector; empty if no MPI has a time
  double seconds = 0;     ///< of the fastest
  int missing = 0;        ///< MPIs without a time
};

/// Throws std::runtime_error, with a text for the user.
std::vector<selector_cell> read_selector_times(const std::string& file);

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
//
// The outcome of `tutti measure` as text and as JSON: the measured and the simulated time of each
// pattern, and their errors.
#pragma once

#include <string>
#include <vector>

#include "tuning/machine_measurements.hpp"

namespace tutti::tool {

struct measure_report {
  tuning::measured_machine measured;
  std::string engine, mpi;  ///< `mpi` is empty on engines in one process
  std::string about;        ///< as in the machine file
  double seconds = 0;       ///< that the measurements took
  std::vector<tuning::residual> residuals;
};

std::string as_text(const measure_report& r);
/// `machine`: the text of the machine file.
std::string as_json(const measure_report& r, const std::string& machine);

/// "4 ranks share 2 cores, ...": a warning, or empty.
std::string oversubscription_of(const tuning::measured_machine& m);

}  // namespace tutti::tool

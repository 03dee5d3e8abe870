// SPDX-License-Identifier: Apache-2.0
//
// Simulates the choices of Open MPI and MPICH with src/simulation, where the times of SMPI would
// take hours. trees/peers states these choices.
#pragma once

#include <string>
#include <vector>

#include "selectors/selector_times_file.hpp"
#include "simulation/simulator.hpp"

namespace bench {

/// All collectives and sizes that selector_times simulates, without a time.
std::vector<selector_cell> cells_without_times(const std::vector<std::string>& machines,
                                               const std::vector<int>& ranks);

/// Completes the cell: the fastest of Open MPI ("ompi") and MPICH ("mpich"), named as SMPI names
/// them. An MPI whose choice has too many messages is missing.
void add_simulated_times(tutti::simulation::simulator&, selector_cell&);

}  // namespace bench

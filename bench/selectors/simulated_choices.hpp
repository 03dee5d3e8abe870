// SPDX-License-Identifier: Apache-2.0
//
// Simulates what decision trees choose for a call, and everything that they could choose.
#pragma once

#include <optional>
#include <string>

#include "selectors/selector_times_file.hpp"
#include "simulation/simulator.hpp"

namespace bench {

struct simulated_choice {
  std::string algorithm;  ///< "knomial:k=4", without the collective
  double seconds = 0;
};

/// Limits of a simulation: about half a minute.
tutti::simulation::simulation_options affordable();

/// The call of a cell. Throws std::runtime_error if there is no such collective.
tutti::simulation::simulated_call call_of(const selector_cell& cell);

/// What the trees choose if the engine offers no native collective. Throws std::runtime_error, with
/// a text for the user, if the choice cannot be simulated, or not within affordable().
simulated_choice choice_of_trees(tutti::simulation::simulator& simulator,
                                 const tutti::simulation::simulated_call& call,
                                 const tutti::detail::selection& trees);

/// The fastest of all algorithms and compositions, with the parameter values that `tutti tune`
/// tries, except those with more than 512 segments. The trees choose the inner calls of
/// compositions. Empty if nothing can be simulated.
std::optional<simulated_choice> fastest_candidate(tutti::simulation::simulator& simulator,
                                                  const tutti::simulation::simulated_call& call,
                                                  const tutti::detail::selection& trees);

}  // namespace bench

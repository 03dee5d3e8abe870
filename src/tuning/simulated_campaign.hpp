// SPDX-License-Identifier: Apache-2.0
//
// Times algorithms and compositions on machines that files describe, by simulation
// (src/simulation/), and grows decision trees from these times. Nothing is measured, so the
// machines need not be at hand, and the result is the same each time.
//
// The trees distinguish the machines of a campaign by their ranks per node. Machines with the same
// number of these are several models of one machine: the best choice is that of the least geometric
// mean, among those that are at most 5 % slower than the former choice on any of them.
//
// With 256 ranks and more, only what was at most twice as slow as the best with fewer ranks is
// simulated.
//
// A composition makes inner calls on one rank of each node. The trees grown so far for pure
// algorithms choose them.
//
// `tutti tune --machine` calls it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "simulation/machine_model.hpp"
#include "tuning/grow.hpp"
#include "tuning/peer_choice.hpp"

namespace tutti::tuning {

struct simulated_machine {
  std::string name;
  simulation::machine model;
};

struct simulated_options {
  std::vector<simulated_machine> machines;
  std::vector<int> ranks;
  std::vector<collective> collectives;
  std::vector<std::size_t> sizes;  ///< bytes of a block, or of the vector if there are no blocks
  bool parameters = true;          ///< also parameter values other than the defaults
  /// Skips a candidate whose claimed cost is more than this many times the least. Claims add up
  /// rounds that overlap, so that a pipeline may be much faster.
  double prune = 16;
  /// A choice whose simulation needs more bytes, as it estimates them itself, is not simulated. Two
  /// million messages in progress at the same time need less. The memory of this computer decides
  /// nothing, so that the result is the same on each.
  double max_memory = 2.0 * (1 << 30);
  unsigned threads = 1;
  /// The relative gain over the current choice of the base, where no native collective is offered.
  double gain = 0.002;
  /// The same over the native collective.
  double gain_over_native = 0.15;
  /// MPI libraries whose choices stand for the native collectives (peer_choice.hpp). The fastest
  /// counts, so a gain holds over each of them. With one MPI, the regions have the condition of its
  /// name, and hold only over it. Empty: no region replaces a native collective.
  std::vector<peer_mpi> natives;
};

/// Simulated times by text, so that an interrupted campaign can go on.
struct known_times {
  /// The seconds of a key: infinite if it takes too long, not a number if its simulation takes too
  /// much effort. Nothing if it was not simulated.
  std::function<std::optional<double>(const std::string& key)> find;
  std::function<void(const std::string& key, double seconds)> add;
};

struct simulated_result {
  /// For overlay on the base. The last `changes_over_native` changes are those of calls for which
  /// there is a native collective.
  grown trees;
  std::size_t changes_over_native = 0;
  std::vector<cell> cells;  ///< of calls without a native collective
  struct cell_origin {
    std::size_t machine;  ///< index of simulated_options::machines
    double native_us;     ///< of the fastest native collective; infinite if it is not known
  };
  std::vector<cell_origin> origins;  ///< by cell
  /// Machines, as indices, with numbers of ranks that are not simulated because they do not fill
  /// whole sockets (whole nodes, if these have one).
  std::set<std::pair<std::size_t, int>> left_out;
  std::size_t simulated = 0, known = 0, pruned = 0, too_long = 0;
};

/// Reports the current step, and the fraction of the work that is done. Called by one thread at a
/// time.
using simulation_progress = std::function<void(const std::string& what, double part)>;

/// `base` must decide every call. Neighborhood collectives are skipped. A simulated rank has a core
/// of its own, so the regions that replace native collectives require that the engine's condition
/// `oversubscribed` does not hold. Throws std::length_error, with a text for the user, if this
/// computer lacks memory for a simulation that the options permit.
simulated_result run_simulated_campaign(const document& base, const simulated_options& options,
                                        const known_times& times, const simulation_progress& report);

}  // namespace tutti::tuning

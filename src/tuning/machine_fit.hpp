// SPDX-License-Identifier: Apache-2.0
//
// Fits the model of a machine to measured patterns, and compares the measurements with simulations
// of the same patterns on the fitted machine. A pure function: it measures nothing.
//
// The parameters follow LogGP (Culler et al. 1996, "Assessing fast network interfaces"; Hoefler et
// al. 2009, "LogGP in theory and practice", and its tool Netgauge):
//
//   eager limit   measured directly: a send to a late receiver returns at once
//   overheads     the time of a burst on its sender, and on a receiver that comes when all messages
//                 have arrived, for each message more
//   latency, bandwidth, handshake
//                 the line through the ping-pongs over their length. Messages from the eager limit
//                 on have the same slope, and the handshake in addition.
//   sharing       pairs that send at the same time: the common bandwidth that explains them best
//   local work    the mean speed over the lengths
//
// Lines are fitted to relative errors, since lengths and times differ by five orders of magnitude.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "simulation/machine_model.hpp"
#include "tuning/machine_patterns.hpp"

namespace tutti::tuning {

struct pattern_time {
  pattern what;
  double seconds = 0;
};

/// The parts of a burst of 8 bytes: what the messages take on either side.
struct burst_time {
  int messages = 1;
  double send = 0;     ///< on the sender, whose messages are eager
  double receive = 0;  ///< on the receiver, after all messages have arrived
};

struct path_measurements {
  std::uint64_t eager_limit = 0;  ///< the first length whose sender waits for the receiver
  std::vector<burst_time> bursts;
};

/// A collective that an algorithm of the catalogue runs, to compare it with its simulation.
struct collective_time {
  collective what = collective::barrier;
  std::string algorithm;  ///< "knomial"
  simulation::simulated_call call;
  std::size_t bytes = 0;  ///< as `tutti tune` counts them
  double seconds = 0;
};

struct machine_measurements {
  job_shape job;
  path_measurements within_node, between_nodes;  ///< empty if there are no such messages
  std::vector<pattern_time> patterns;
  std::vector<collective_time> collectives;  ///< not used for the fit
};

/// Requires all patterns of patterns_of(m.job).
simulation::machine fit_machine(const machine_measurements& m);

/// A measured and a simulated time.
struct residual {
  std::string what;
  bool between_nodes = false, is_collective = false, is_local = false;
  std::size_t bytes = 0;
  double measured = 0, predicted = 0;  ///< seconds

  double error() const noexcept { return predicted / measured - 1; }
};
std::vector<residual> residuals_of(const machine_measurements& m, const simulation::machine& fitted);

struct error_summary {
  double mean = 0, max = 0;  ///< of the absolute values
};
error_summary summarize(const std::vector<residual>& all, bool collectives);

/// The machine file. Only for machines of fit_machine().
std::string machine_text(const simulation::machine& m);

}  // namespace tutti::tuning

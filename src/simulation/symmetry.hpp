// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether all ranks of a call behave alike, so that one of them can be simulated in place
// of all. On a flat network of nodes with one rank this is exact if, in each round, all ranks have
// the same lengths in the same order, and receive number i of every rank gets send number j of its
// peer, with the same j. Then all ranks are in the same state at any time, all links have the same
// messages, and a message arrives when the rank's own send number j arrives at its peer.
//
// Most algorithms without a root are of this kind, some of them for powers of two only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "simulation/machine_model.hpp"
#include "simulation/rank_schedule.hpp"

namespace tutti::simulation {

/// Whether the machine treats all ranks alike.
bool is_symmetric(const machine& m) noexcept;

struct common_schedule {
  /// The rounds of every rank. The peer of a transfer is the number of its send in the round.
  rank_schedule schedule;
  std::uint64_t messages = 0, bytes = 0;  ///< that each rank sends
};

/// Walks through the schedules of all ranks. Returns nothing if their ranks differ, or if finding
/// that out takes too much memory. Rewinds the schedules.
/// `walked` learns the messages of all ranks so far.
std::optional<common_schedule> find_common_schedule(std::span<rank_schedule> all,
                                                    const std::function<void(double)>& walked = {});

}  // namespace tutti::simulation

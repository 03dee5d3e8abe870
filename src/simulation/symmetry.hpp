// SPDX-License-Identifier: Apache-2.0
//
// Finds out whether all nodes of a call behave alike, so that the ranks of one of them can be
// simulated in place of all. The position of a rank is its number on its node. On a flat network of
// full nodes this is exact if the following holds in each round:
//
// - All ranks of a position have the same lengths in the same order.
// - Receive number i of every rank of a position gets send number j of a rank of another position
//   (or of the same one), with the same j and the same position. Either all of these messages stay
//   within their nodes, or none does.
// - All ranks of a position take the same time for the local work between two rounds.
//
// Then ranks of a position are in the same state at any time. Send number j of a position is one
// message on the link up of every node, and one on the link down of every node, or one in the
// memory of every node. So links of a kind have the same messages, which share them in the same
// way. The order of events at the same time differs, which changes times by rounding errors only.
//
// Most algorithms without a root are of this kind, some of them for powers of two only. Networks
// that are not flat treat nodes in different ways, and the ranks of a node that is not full differ
// from others.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "simulation/machine_model.hpp"
#include "simulation/rank_schedule.hpp"

namespace tutti::simulation {

/// Whether the machine treats all nodes alike, and these are full.
bool is_symmetric(const machine& m, int ranks) noexcept;

struct common_schedule {
  /// By position. The peer of a transfer is a representative_peer().
  std::vector<rank_schedule> schedules;
  std::uint64_t messages = 0, bytes = 0;  ///< that each node sends
  /// Of a message of a node: both of its transfers, and at most one round.
  static constexpr std::size_t message_memory = 128;
};

/// The peer is at `position`. A peer of another node has the rank of this position on the second of
/// two nodes. `send` is the number of the send in the round of its rank.
constexpr std::int32_t representative_peer(int ranks_per_node, int position, bool elsewhere,
                                           std::size_t send) {
  return static_cast<std::int32_t>(send) * 2 * ranks_per_node + position + (elsewhere ? ranks_per_node : 0);
}

/// Walks through the schedules of all ranks. Returns nothing if nodes differ, or if a rank has so
/// many transfers in a round that comparing them takes long. Rewinds the schedules.
/// `walked` learns the messages of all ranks so far.
std::optional<common_schedule> find_common_schedule(std::span<rank_schedule> all, const machine& m,
                                                    const std::function<void(double)>& walked = {});

}  // namespace tutti::simulation

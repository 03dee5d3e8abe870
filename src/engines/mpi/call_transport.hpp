// SPDX-License-Identifier: Apache-2.0
//
// Names in words how the data of a call travel over MPI, without a running MPI. It uses the same
// limits as the modules do. It assumes that the communicator has slots of its own
// (memory_collectives.hpp), and that the table of the node's groups is not full (group_entry.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engines/engine_table.hpp"
#include "engines/mpi/memory_pieces.hpp"

namespace tutti::detail {

/// The bytes that address_limits are compared with, if all blocks have the same length.
constexpr std::size_t bytes_by_address(collective what, std::size_t bytes, int ranks) noexcept {
  return what == collective::allgatherv ? bytes * static_cast<std::size_t>(ranks) : bytes;
}

/// Whether a native collective in the memory of a node goes by address, unless it is measured.
constexpr bool native_by_address(collective what, std::size_t bytes, bool in_place, int ranks,
                                 bool oversubscribed) noexcept {
  const bool has_direct_form = what == collective::bcast || what == collective::allreduce;
  if (has_direct_form && bytes <= max_bytes_of_one_round(what, ranks, slot_bytes_of_node(ranks)))
    return false;
  const address_limits limits = address_limits_of(what);
  const std::size_t limit = oversubscribed ? limits.without_cores : limits.with_cores;
  return goes_by_address(what, bytes_by_address(what, bytes, ranks), in_place,
                         min_call_by_address(what, limit, ranks));
}

/// Whether the members of a native collective measure whether it is faster by address.
constexpr bool native_is_measured(const call& c, int ranks, bool oversubscribed) noexcept {
  return !oversubscribed && is_measured(c.what, bytes_by_address(c.what, c.count * c.type.size, ranks),
                                        c.in_place, ranks, min_measured_part_bytes);
}

inline std::string native_transport_over_mpi(const reported_call& c) {
  const call& a = c.arguments;
  const int ranks = c.topology.ranks();
  constexpr const char* of_mpi = "the MPI's own collective";
  if (!c.node_memory || c.topology.nodes() > 1 || !has_memory_form(a.what)) return of_mpi;
  const call_pieces pieces = divide(a.what, a.count, a.type.size, ranks, slot_bytes_of_node(ranks));
  if (!pieces.served) return of_mpi;
  const bool measured = c.cross_memory && native_is_measured(a, ranks, c.oversubscribed);
  if (!measured && c.cross_memory &&
      native_by_address(a.what, a.count * a.type.size, a.in_place, ranks, c.oversubscribed))
    return "node memory, by address";
  const std::uint64_t rounds = pieces.rounds();
  std::string text = "node memory, " + std::to_string(rounds) + (rounds == 1 ? " round" : " rounds");
  if (a.what == collective::barrier) return text;
  if (has_varying_blocks(a.what)) return text + ", and channels for long blocks";
  const std::size_t blocks = posts_blocks_for_all(a.what) ? static_cast<std::size_t>(ranks) : 1;
  text += (rounds == 1 ? " of " : " of up to ") + std::to_string(pieces.per_round * pieces.unit * blocks) +
          " bytes";
  return measured ? text + ", or by address, as measured" : text;
}

inline std::string transport_over_mpi(const reported_call& c) {
  if (c.native) return native_transport_over_mpi(c);
  const hierarchy& nodes = c.topology;
  if (!c.node_memory || nodes.nodes() == nodes.ranks()) return "MPI messages";
  return nodes.nodes() == 1 ? "channels in node memory"
                            : "channels in node memory, and MPI messages between nodes";
}

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// The links of a machine and the route of each message. Routes are computed when they are needed:
// a table of all pairs would need memory for p * p of them.
//
// Ranks fill the nodes in their order, and the sockets of a node in their order. A fat tree routes
// upwards by the destination (d-mod-k).
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/group/hierarchy.hpp"
#include "simulation/machine_model.hpp"

namespace tutti::simulation {

using namespace tutti::detail;

/// The max. number of links of a route. read_machine() rejects machines with longer ones.
inline constexpr std::size_t max_hops = 12;

struct route {
  double latency = 0;
  double max_rate = unlimited;  ///< of one message
  const protocol* with = nullptr;
  std::uint32_t hops = 0;
  std::array<std::uint32_t, max_hops> links;
};

class network {
 public:
  /// Keeps a reference to the machine. Throws std::invalid_argument if it has too few nodes.
  network(const machine& m, int ranks);

  int ranks() const noexcept { return ranks_; }
  int nodes() const noexcept { return nodes_; }
  /// Bandwidths, by link.
  const std::vector<double>& bandwidths() const noexcept { return bandwidths_; }
  /// "the link of node 3 to its switch"
  std::string name_of_link(std::uint32_t link) const;
  /// The number that a link has in another network of the same machine, which has more ranks.
  std::uint32_t link_in(const network& larger, std::uint32_t link) const;
  /// The route of a message. A message of a rank to itself stays in its socket.
  void find(int from, int to, route& found) const noexcept;
  const protocol& protocol_between(int from, int to) const noexcept {
    return node_of(from) == node_of(to) ? machine_.within_node : machine_.between_nodes;
  }
  int node_of(int rank) const noexcept { return rank / machine_.ranks_per_node; }
  int socket_of(int rank) const noexcept;

  /// The topology that compositions see: nodes, and sockets below them if there are several.
  hierarchy topology() const;
  /// The number of nodes of its finest level, and of their ranks; 0 if these differ.
  int finest_nodes() const noexcept;
  int ranks_per_finest_node() const noexcept;
  /// The bytes that the links of a network for `ranks` ranks take.
  static double memory(const machine& m, int ranks) noexcept;

 private:
  // Links of one kind have consecutive numbers.
  struct link_block {
    enum class kind : std::uint8_t { up, down, local, global, socket, between_sockets };
    kind what;
    int level;
    std::uint32_t first, count;
  };
  std::uint32_t add(link_block::kind what, int level, std::int64_t count, double bandwidth);
  void add_fat_tree();
  void add_tree();
  void route_within(int from, int to, route& r) const noexcept;
  void route_fat_tree(int from, int to, route& r) const noexcept;
  void route_dragonfly(int from, int to, route& r) const noexcept;
  void route_tree(int from, int to, route& r) const noexcept;
  int switch_of(int node) const noexcept;

  const machine& machine_;
  int ranks_, nodes_;
  std::vector<double> bandwidths_;
  std::vector<link_block> blocks_;
  // Fat tree, by level: the first link up, the number of nodes below a unit of the level below, and
  // the number of switches of that unit.
  struct level_links {
    std::uint32_t up, down;
    std::int64_t below, width;
  };
  std::vector<level_links> levels_;
  std::uint32_t up_ = 0, down_ = 0, local_ = 0, global_ = 0, switch_up_ = 0, switch_down_ = 0;
  std::uint32_t socket_ = 0, between_ = 0;
  bool socket_shared_ = false, between_shared_ = false;
  std::vector<int> first_node_, depth_;  // of a tree, by switch
};

}  // namespace tutti::simulation

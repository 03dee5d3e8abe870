// SPDX-License-Identifier: Apache-2.0
//
// The model of a machine on which schedules are simulated: nodes with ranks and sockets, the links
// between nodes, and what messages and local work cost. read_machine.hpp reads it from a file,
// network.hpp derives links and routes from it, simulator.hpp runs calls on it.
//
// All times are in seconds, all sizes in bytes, all speeds in bytes per second.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace tutti::simulation {

inline constexpr double unlimited = std::numeric_limits<double>::infinity();

/// What a message costs besides its route. The overheads occupy the core of the rank.
struct protocol {
  /// A shorter message is eager: its sender does not wait for the receiver. Other messages begin
  /// when both sides are ready (rendezvous).
  std::uint64_t eager_limit = 65536;
  std::uint64_t envelope = 0;            ///< added to each message
  double send_overhead = 0;              ///< before a message leaves
  double receive_overhead = 0;           ///< after an eager message has arrived
  double rendezvous_overhead = 0;        ///< the same for other messages
  double handshake = 0;                  ///< before a rendezvous, once both sides are ready
  double message_bandwidth = unlimited;  ///< of one message, however free the links are
};

/// A cable: one link in each direction.
struct link_class {
  double latency = 0;
  double bandwidth = unlimited;
};

/// The route of a message between two ranks of a node.
struct memory_path {
  double latency = 0;
  double bandwidth = unlimited;  ///< of one message
  double total = unlimited;      ///< shared by all messages of a socket, or between sockets
};

/// A level of a fat tree: `children` nodes, or switches of the level below, are below the same
/// switches. Each of them is connected to `parents` of these.
struct fat_tree_level {
  int children = 0;  ///< 0, at the top only: as many as there are
  int parents = 1;
  link_class link{};
};

/// Groups of routers. Each pair of routers of a group has a link, and each pair of groups has one.
/// A route is minimal. Link number d of a group (to the d-th other group) is at router d modulo
/// `routers`.
struct dragonfly {
  int groups = 1, routers = 1, nodes = 1;  ///< nodes of a router
  link_class node_link{}, local_link{}, global_link{};
};

/// A switch of a tree, with a link to the switch above it.
struct tree_switch {
  std::string name;
  int above = -1;  ///< index of the switch above; -1: the root
  link_class link{};
  int nodes = 0;  ///< directly below it
};

struct machine {
  std::string about;
  int ranks_per_node = 1;
  int sockets = 1;
  protocol within_node, between_nodes;
  memory_path within_socket, between_sockets;
  double copy_speed = unlimited, reduce_speed = unlimited;

  enum class topology : std::uint8_t { single_node, fat_tree, dragonfly, tree };
  topology network = topology::single_node;
  /// From the nodes up. A flat network is a fat tree of one level.
  std::vector<fat_tree_level> levels;
  simulation::dragonfly groups;
  std::vector<tree_switch> switches;
  link_class node_link{};  ///< of a tree

  /// The largest number of nodes; 0: no limit.
  std::int64_t max_nodes() const noexcept;
};

}  // namespace tutti::simulation

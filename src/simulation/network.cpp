// SPDX-License-Identifier: Apache-2.0
#include "simulation/network.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace tutti::simulation {
namespace {

std::int64_t quotient_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

std::string plural(std::int64_t n, const char* noun) {
  return std::to_string(n) + " " + noun + (n == 1 ? "" : "s");
}

int nodes_for(const machine& m, int ranks) {
  const std::int64_t needed = quotient_up(ranks, m.ranks_per_node), there = m.max_nodes();
  if (there != 0 && needed > there)
    throw std::invalid_argument("the machine has " + plural(there, "node") + " of " +
                                plural(m.ranks_per_node, "rank") + ", but " + plural(ranks, "rank") +
                                " need " + plural(needed, "node"));
  return static_cast<int>(needed);
}

}  // namespace

network::network(const machine& m, int ranks) : machine_(m), ranks_(ranks), nodes_(nodes_for(m, ranks)) {
  using enum link_block::kind;
  const auto nodes = static_cast<std::int64_t>(nodes_);
  const dragonfly& d = m.groups;
  switch (m.network) {
    case machine::topology::single_node:
      break;
    case machine::topology::fat_tree:
      add_fat_tree();
      break;
    case machine::topology::dragonfly:
      up_ = add(up, 0, nodes, d.node_link.bandwidth);
      down_ = add(down, 0, nodes, d.node_link.bandwidth);
      local_ = add(local, 0, std::int64_t{d.groups} * d.routers * d.routers, d.local_link.bandwidth);
      global_ = add(global, 0, std::int64_t{d.groups} * d.groups, d.global_link.bandwidth);
      break;
    case machine::topology::tree:
      add_tree();
      break;
  }
  socket_shared_ = std::isfinite(m.within_socket.total);
  between_shared_ = m.sockets > 1 && std::isfinite(m.between_sockets.total);
  if (socket_shared_) socket_ = add(socket, 0, nodes * m.sockets, m.within_socket.total);
  if (between_shared_) between_ = add(between_sockets, 0, nodes, m.between_sockets.total);
}

std::uint32_t network::add(link_block::kind what, int level, std::int64_t count, double bandwidth) {
  const auto first = static_cast<std::uint32_t>(bandwidths_.size());
  blocks_.push_back({what, level, first, static_cast<std::uint32_t>(count)});
  bandwidths_.insert(bandwidths_.end(), static_cast<std::size_t>(count), bandwidth);
  return first;
}

// A unit of a level is a node, or all switches of the level below that have the same nodes below
// them: `width` of them.
void network::add_fat_tree() {
  std::int64_t units = nodes_, width = 1, below = 1;
  for (std::size_t l = 0; l < machine_.levels.size(); ++l) {
    const fat_tree_level& level = machine_.levels[l];
    const std::int64_t count = units * width * level.parents;
    level_links links{};
    links.up = add(link_block::kind::up, static_cast<int>(l), count, level.link.bandwidth);
    links.down = add(link_block::kind::down, static_cast<int>(l), count, level.link.bandwidth);
    links.below = below;
    links.width = width;
    levels_.push_back(links);
    width *= level.parents;
    below *= level.children == 0 ? units : level.children;
    units = level.children == 0 ? 1 : quotient_up(units, level.children);
  }
}

void network::add_tree() {
  up_ = add(link_block::kind::up, 0, nodes_, machine_.node_link.bandwidth);
  down_ = add(link_block::kind::down, 0, nodes_, machine_.node_link.bandwidth);
  int first = 0;
  switch_up_ = static_cast<std::uint32_t>(bandwidths_.size());
  const auto switches = static_cast<std::uint32_t>(machine_.switches.size());
  for (const auto kind : {link_block::kind::up, link_block::kind::down}) {
    blocks_.push_back({kind, 1, static_cast<std::uint32_t>(bandwidths_.size()), switches});
    for (const tree_switch& s : machine_.switches) bandwidths_.push_back(s.link.bandwidth);
  }
  switch_down_ = switch_up_ + switches;
  for (const tree_switch& s : machine_.switches) {
    first_node_.push_back(first);
    first += s.nodes;
    int depth = 0;
    for (int above = s.above; above >= 0; above = machine_.switches[static_cast<std::size_t>(above)].above)
      ++depth;
    depth_.push_back(depth);
  }
}

double network::memory(const machine& m, int ranks) noexcept {
  const double nodes = std::ceil(static_cast<double>(ranks) / m.ranks_per_node);
  double links = 0, units = nodes, width = 1;
  switch (m.network) {
    case machine::topology::single_node:
      break;
    case machine::topology::fat_tree:
      for (const fat_tree_level& l : m.levels) {
        links += 2 * units * width * l.parents;
        width *= l.parents;
        units = l.children == 0 ? 1 : std::ceil(units / l.children);
      }
      break;
    case machine::topology::dragonfly:
      links = 2 * nodes + static_cast<double>(m.groups.groups) * m.groups.routers * m.groups.routers +
              static_cast<double>(m.groups.groups) * m.groups.groups;
      break;
    case machine::topology::tree:
      links = 2 * nodes + 2 * static_cast<double>(m.switches.size());
      break;
  }
  links += nodes * (m.sockets + 1);
  return links * 100;  // a link and the first messages on it (flows.hpp)
}

int network::socket_of(int rank) const noexcept {
  const int per_socket = (machine_.ranks_per_node + machine_.sockets - 1) / machine_.sockets;
  return rank % machine_.ranks_per_node / per_socket;
}

hierarchy network::topology() const {
  if (nodes_ == 1 && machine_.sockets == 1) return hierarchy(ranks_);
  std::vector<int> nodes, sockets;
  for (int r = 0; r < ranks_; ++r) {
    nodes.push_back(node_of(r));
    sockets.push_back(node_of(r) * machine_.sockets + socket_of(r));
  }
  if (machine_.sockets == 1) return hierarchy({nodes});
  if (nodes_ == 1) return hierarchy({sockets});
  return hierarchy({sockets, nodes});
}

int network::finest_nodes() const noexcept {
  const int per_socket = machine_.ranks_per_node / machine_.sockets;
  return static_cast<int>(quotient_up(ranks_, per_socket));
}

int network::ranks_per_finest_node() const noexcept {
  const int per_socket = machine_.ranks_per_node / machine_.sockets;
  if (ranks_ <= per_socket) return ranks_;
  return ranks_ % per_socket == 0 ? per_socket : 0;
}

int network::switch_of(int node) const noexcept {
  int s =
      static_cast<int>(std::upper_bound(first_node_.begin(), first_node_.end(), node) - first_node_.begin()) -
      1;
  return s;
}

std::string network::name_of_link(std::uint32_t link) const {
  using enum link_block::kind;
  for (const link_block& b : blocks_) {
    if (link < b.first || link >= b.first + b.count) continue;
    const std::int64_t i = link - b.first;
    const char* const direction = b.what == up ? " up" : " down";
    const auto text = [](std::int64_t n) { return std::to_string(n); };
    switch (b.what) {
      case up:
      case down: {
        if (machine_.network == machine::topology::tree && b.level == 1)
          return "switch " + machine_.switches[static_cast<std::size_t>(i)].name + direction;
        if (machine_.network != machine::topology::fat_tree) return "node " + text(i) + direction;
        const auto l = static_cast<std::size_t>(b.level);
        const std::int64_t parents = machine_.levels[l].parents, unit = i / parents;
        const std::string port = parents == 1 ? "" : ", port " + text(i % parents);
        if (l == 0) return "node " + text(unit) + direction + port;
        return "switch " + text(unit) + " of level " + text(b.level) + direction + port;
      }
      case local: {
        const std::int64_t n = machine_.groups.routers;
        return "group " + text(i / (n * n)) + ", router " + text(i / n % n) + " to router " + text(i % n);
      }
      case global:
        return "group " + text(i / machine_.groups.groups) + " to group " + text(i % machine_.groups.groups);
      case socket:
        return "memory of socket " + text(i % machine_.sockets) + " of node " + text(i / machine_.sockets);
      case between_sockets:
        return "link between the sockets of node " + text(i);
    }
  }
  return "";
}

std::uint32_t network::link_in(const network& larger, std::uint32_t link) const {
  std::size_t b = 0;
  while (link >= blocks_[b].first + blocks_[b].count) ++b;
  return larger.blocks_[b].first + (link - blocks_[b].first);
}

void network::find(int from, int to, route& r) const noexcept {
  r.hops = 0;
  r.latency = 0;
  const int a = node_of(from), b = node_of(to);
  if (a == b) return route_within(from, to, r);
  r.with = &machine_.between_nodes;
  r.max_rate = machine_.between_nodes.message_bandwidth;
  switch (machine_.network) {
    case machine::topology::single_node:
      break;
    case machine::topology::fat_tree:
      return route_fat_tree(a, b, r);
    case machine::topology::dragonfly:
      return route_dragonfly(a, b, r);
    case machine::topology::tree:
      return route_tree(a, b, r);
  }
}

void network::route_within(int from, int to, route& r) const noexcept {
  r.with = &machine_.within_node;
  const int node = node_of(from), here = socket_of(from), there = socket_of(to);
  const memory_path& path = here == there ? machine_.within_socket : machine_.between_sockets;
  r.latency = path.latency;
  r.max_rate = std::min(path.bandwidth, r.with->message_bandwidth);
  if (here == there && socket_shared_)
    r.links[r.hops++] = socket_ + static_cast<std::uint32_t>(node * machine_.sockets + here);
  if (here != there && between_shared_) r.links[r.hops++] = between_ + static_cast<std::uint32_t>(node);
}

void network::route_fat_tree(int from, int to, route& r) const noexcept {
  // The links that the message takes upwards determine those downwards: the switch that it turns at
  // has one link towards each unit.
  std::int64_t choice = 0, digits = to;
  std::uint32_t downs[max_hops];
  std::uint32_t turns = 0;
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    const level_links& links = levels_[l];
    const std::int64_t parents = machine_.levels[l].parents;
    const std::int64_t source = from / links.below, target = to / links.below;
    if (source == target) break;
    const std::int64_t port = digits % parents;
    digits /= parents;
    r.links[r.hops++] =
        links.up + static_cast<std::uint32_t>((source * links.width + choice) * parents + port);
    downs[turns++] =
        links.down + static_cast<std::uint32_t>((target * links.width + choice) * parents + port);
    r.latency += 2 * machine_.levels[l].link.latency;
    choice += port * links.width;
  }
  while (turns > 0) r.links[r.hops++] = downs[--turns];
}

void network::route_dragonfly(int from, int to, route& r) const noexcept {
  const dragonfly& d = machine_.groups;
  const int source = from / d.nodes, target = to / d.nodes;  // routers
  const int here = source / d.routers, there = target / d.routers;
  const auto local = [&](int group, int a, int b) {
    if (a == b) return;
    r.links[r.hops++] = local_ + static_cast<std::uint32_t>((group * d.routers + a) * d.routers + b);
    r.latency += d.local_link.latency;
  };
  // The router of a group that has the link to another group.
  const auto gateway = [&](int group, int other) { return (other - (other > group ? 1 : 0)) % d.routers; };
  r.links[r.hops++] = up_ + static_cast<std::uint32_t>(from);
  r.latency += 2 * d.node_link.latency;
  if (here == there) {
    local(here, source % d.routers, target % d.routers);
  } else {
    local(here, source % d.routers, gateway(here, there));
    r.links[r.hops++] = global_ + static_cast<std::uint32_t>(here * d.groups + there);
    r.latency += d.global_link.latency;
    local(there, gateway(there, here), target % d.routers);
  }
  r.links[r.hops++] = down_ + static_cast<std::uint32_t>(to);
}

void network::route_tree(int from, int to, route& r) const noexcept {
  const auto at = [](int s) { return static_cast<std::size_t>(s); };
  std::uint32_t downs[max_hops];
  std::uint32_t turns = 0;
  int a = switch_of(from), b = switch_of(to);
  r.links[r.hops++] = up_ + static_cast<std::uint32_t>(from);
  r.latency += 2 * machine_.node_link.latency;
  while (a != b) {
    const bool climb = depth_[at(a)] >= depth_[at(b)];
    int& s = climb ? a : b;
    if (climb)
      r.links[r.hops++] = switch_up_ + static_cast<std::uint32_t>(s);
    else
      downs[turns++] = switch_down_ + static_cast<std::uint32_t>(s);
    r.latency += machine_.switches[at(s)].link.latency;
    s = machine_.switches[at(s)].above;
  }
  while (turns > 0) r.links[r.hops++] = downs[--turns];
  r.links[r.hops++] = down_ + static_cast<std::uint32_t>(to);
}

}  // namespace tutti::simulation

// SPDX-License-Identifier: Apache-2.0
//
// The machines flat, fat-tree and eight-per-node (machines/*.json) as platforms of SimGrid, and the
// options with which SMPI sends messages as these machines do: constant factors, 0.3 us for each
// send and each receive, an eager limit of 64 KiB, no time for computation.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <simgrid/s4u.hpp>
#include <smpi/smpi.h>

namespace simgrid_platforms {

namespace s4u = simgrid::s4u;

inline constexpr double host_speed = 1e9, nic_bandwidth = 12.5e9, nic_latency = 0.5e-6;

inline s4u::Link* loopback_of(s4u::NetZone* zone, const std::string& name) {
  s4u::Link* l = zone->create_link(name + "_loopback", 10e9);
  l->set_latency(0.2e-6)->set_sharing_policy(s4u::Link::SharingPolicy::FATPIPE)->seal();
  return l;
}

inline std::vector<s4u::Host*> flat_platform(int hosts) {
  s4u::NetZone* zone = s4u::create_star_zone("flat");
  std::vector<s4u::Host*> all;
  for (int i = 0; i < hosts; ++i) {
    const std::string name = "host" + std::to_string(i);
    s4u::Host* h = zone->create_host(name, host_speed)->seal();
    const auto* link =
        zone->create_split_duplex_link(name + "_link", nic_bandwidth)->set_latency(nic_latency)->seal();
    zone->add_route(h->get_netpoint(), nullptr, nullptr, nullptr, {{link, s4u::LinkInRoute::Direction::UP}},
                    true);
    zone->add_route(h->get_netpoint(), h->get_netpoint(), nullptr, nullptr,
                    std::vector<s4u::LinkInRoute>{s4u::LinkInRoute(loopback_of(zone, name))}, false);
    all.push_back(h);
  }
  zone->seal();
  return all;
}

// Switches with 8 hosts and 4 links upwards.
inline std::vector<s4u::Host*> fat_tree_platform(int hosts) {
  static std::vector<s4u::Host*> all;
  const auto host = [](s4u::NetZone* zone, const std::vector<unsigned long>&, unsigned long id) {
    all.push_back(zone->create_host("host" + std::to_string(id), host_speed)->seal());
    return std::pair<simgrid::kernel::routing::NetPoint*, simgrid::kernel::routing::NetPoint*>(
        all.back()->get_netpoint(), nullptr);
  };
  s4u::create_fatTree_zone("fat_tree", nullptr, {2, {8, static_cast<unsigned>(hosts) / 8}, {1, 4}, {1, 1}},
                           s4u::ClusterCallbacks(host), nic_bandwidth, nic_latency,
                           s4u::Link::SharingPolicy::SPLITDUPLEX)
      ->seal();
  return all;
}

/// The hosts of a machine of the folder machines/ for so many ranks.
inline std::vector<s4u::Host*> hosts_of(std::string_view machine, int ranks) {
  if (machine == "flat") return flat_platform(ranks);
  if (machine == "fat-tree") return fat_tree_platform(ranks);
  if (machine == "eight-per-node") return flat_platform(ranks / 8);
  throw std::invalid_argument("there is no platform " + std::string(machine) +
                              "; pass flat, fat-tree or eight-per-node");
}

/// Ranks lie on hosts in blocks.
inline s4u::Host* host_of(const std::vector<s4u::Host*>& hosts, int rank, int ranks) {
  return hosts[static_cast<std::size_t>(rank) * hosts.size() / static_cast<std::size_t>(ranks)];
}

/// The options of the engine, after SMPI_init() has declared them.
inline void configure(s4u::Engine& e) {
  for (const char* text :
       {"network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1",
        "network/crosstraffic:0", "network/weight-S:0", "network/TCP-gamma:0", "smpi/os:0:0.3e-6:0",
        "smpi/ois:0:0.3e-6:0", "smpi/or:0:0.3e-6:0", "smpi/send-is-detached-thresh:65536",
        "smpi/async-small-thresh:65536", "smpi/simulate-computation:no", "smpi/wtime:0", "smpi/iprobe:0",
        "smpi/test:0", "smpi/shared-malloc:global", "smpi/privatization:no", "smpi/host-speed:1Gf",
        "smpi/init:0"})
    e.set_config(text);
}

}  // namespace simgrid_platforms

// SPDX-License-Identifier: Apache-2.0
//
// Writes the file of a fitted machine. read_machine() gives the same machine, to four digits.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "simulation/quantity_text.hpp"
#include "tuning/machine_fit.hpp"

namespace tutti::tuning {
namespace {

using json = nlohmann::ordered_json;
using simulation::quantity_kind;

std::string scaled(double value, const char* const units[], double smallest, int last) {
  int u = 0;
  // 999.95 is 1000 with four digits
  while (u < last && value >= 999.95 * smallest) {
    smallest *= 1000;
    ++u;
  }
  char text[48];
  std::snprintf(text, sizeof text, "%.4g%s", value / smallest, units[u]);
  return text;
}

std::string time_text(double seconds) {
  static constexpr const char* units[] = {"ns", "us", "ms", "s"};
  return scaled(std::min(seconds, limits_of(quantity_kind::time).max), units, 1e-9, 3);
}

std::string bandwidth_text(double bytes_per_second) {
  static constexpr const char* units[] = {"kB/s", "MB/s", "GB/s", "TB/s"};
  const simulation::quantity_limits range = limits_of(quantity_kind::bandwidth);
  return scaled(std::clamp(bytes_per_second, range.min, range.max), units, 1e3, 3);
}

std::string size_text(std::uint64_t bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB"};
  int u = 0;
  while (u < 3 && bytes != 0 && bytes % 1024 == 0) {
    bytes /= 1024;
    ++u;
  }
  return std::to_string(bytes) + units[u];
}

json messages_of(const simulation::protocol& p) {
  json m = {{"eager_limit", size_text(p.eager_limit)},
            {"send_overhead", time_text(p.send_overhead)},
            {"receive_overhead", time_text(p.receive_overhead)},
            {"rendezvous_overhead", time_text(p.rendezvous_overhead)},
            {"handshake", time_text(p.handshake)}};
  if (std::isfinite(p.message_bandwidth)) m["bandwidth"] = bandwidth_text(p.message_bandwidth);
  return m;
}

}  // namespace

std::string machine_text(const simulation::machine& m) {
  json all = {{"schema", "tutti/machine/1"}, {"about", m.about}};
  json& node = all["node"];
  node["ranks"] = m.ranks_per_node;
  if (m.ranks_per_node > 1) {
    node["memory"] = {{"latency", time_text(m.within_socket.latency)},
                      {"bandwidth", bandwidth_text(m.within_socket.bandwidth)}};
    if (std::isfinite(m.within_socket.total)) node["memory"]["total"] = bandwidth_text(m.within_socket.total);
    node["messages"] = messages_of(m.within_node);
  }
  node["copy"] = bandwidth_text(m.copy_speed);
  node["reduce"] = bandwidth_text(m.reduce_speed);
  if (m.network == simulation::machine::topology::fat_tree) {
    const simulation::link_class& link = m.levels[0].link;
    all["links"]["network"] = {{"latency", time_text(link.latency)},
                               {"bandwidth", bandwidth_text(link.bandwidth)}};
    all["network"] = {{"topology", "flat"}, {"link", "network"}, {"messages", messages_of(m.between_nodes)}};
  }
  return all.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace tutti::tuning

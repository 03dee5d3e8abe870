// SPDX-License-Identifier: Apache-2.0
//
// Machines and calls for the tests of simulations.
#pragma once

#include <stdexcept>
#include <string>

#include "simulation/read_machine.hpp"
#include "simulation/simulator.hpp"

namespace tutti::simulation {

/// A machine of the folder machines/.
inline machine machine_named(std::string_view name) {
  machine_result r = read_machine(builtin_machine(name), name);
  if (!r.good()) throw std::runtime_error(r.faults.front().text());
  return std::move(r.made);
}

// 10 bytes per microsecond; 1 us latency from rank to rank.
inline machine plain_machine() {
  machine m;
  m.network = machine::topology::fat_tree;
  m.levels = {{0, 1, {0.5e-6, 10e6}}};
  m.between_nodes.eager_limit = 1000;
  m.between_nodes.send_overhead = 2e-6;
  m.between_nodes.receive_overhead = 3e-6;
  m.between_nodes.rendezvous_overhead = 0.25e-6;
  m.between_nodes.handshake = 4e-6;
  return m;
}

inline simulated_call call_of(collective what, std::size_t bytes) {
  simulated_call c;
  c.what = what;
  c.element_bytes = bytes % 8 == 0 ? 8 : 1;
  c.count = bytes / c.element_bytes;
  return c;
}

inline collective collective_of(std::string_view algorithm) {
  const std::string_view name = algorithm.substr(0, algorithm.find('/'));
  for (std::size_t c = 0; c < collective_names.size(); ++c)
    if (collective_names[c] == name) return static_cast<collective>(c);
  throw std::runtime_error("no collective " + std::string(name));
}

/// The time of an algorithm, in microseconds.
inline double microseconds(const machine& m, int ranks, std::string_view algorithm, std::size_t bytes) {
  const collective what = collective_of(algorithm);
  return simulator(m, ranks).run(call_of(what, bytes), read_choice(what, algorithm)).seconds * 1e6;
}

}  // namespace tutti::simulation

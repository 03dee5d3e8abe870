// SPDX-License-Identifier: Apache-2.0
//
// The options of `tutti tune`. It either measures on an engine (tune.cpp) or simulates on machines
// that files describe (tune_machine.cpp).
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tutti/collective.hpp"

namespace tutti::tool {

struct tune_options {
  std::string engine, budget, output, onto;
  std::vector<std::string> machines;  ///< if there are any, they are simulated
  std::vector<std::string> natives;   ///< with machines: MPIs; empty: all that are known
  std::string rank_list;              ///< as typed: "64", "2..4096", "16,48"; empty: not given
  int ranks = 0;                      ///< of the engine; 0: its default
  double gain = 5;
  bool gain_given = false;
  std::vector<std::string> collectives;
  std::vector<std::size_t> sizes;
  bool quick = false, as_json = false, only = false;
};

/// The smallest and the largest number of ranks that trees are tuned for.
inline constexpr int min_tuned_ranks = 2, max_tuned_ranks = 4096;

/// Powers of two, the midpoints between them, and the number of ranks itself.
std::vector<int> numbers_of_ranks(int ranks, bool quick);
/// The collectives of the options, all if none is named.
std::vector<collective> tuned_collectives(const tune_options& w);

/// Simulates. Returns the exit status. Throws called_wrongly.
int tune_machines(const tune_options& w);

}  // namespace tutti::tool

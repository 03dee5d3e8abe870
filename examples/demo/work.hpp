// SPDX-License-Identifier: Apache-2.0
//
// What the demo does on an engine: the same three pieces of work, each timed, metered, and checked against
// the oracle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/tutti.hpp>

#include "graph/edge_list.hpp"
#include "sort/words.hpp"

namespace demo {

/// What the user asked for.
struct request {
  std::string edges, from;         ///< empty: the packages of this machine; the vertex with the most edges
  std::vector<std::string> texts;  ///< empty: the documentation of this machine
  bool quiet = false;              ///< no word of progress
};

/// The input and the right answers. One rank has them: rank 0.
struct material {
  graph::edge_list graph;
  graph::vertex source = 0;
  std::vector<std::uint32_t> distances;
  std::vector<graph::vertex> components;
  sort::word_list texts;
  sort::string_array sorted;
};

/// Reads the input and asks the oracles. Throws input_error.
material read(const request&);

struct outcome {
  std::string name;             ///< "search", "components" or "sort"
  double seconds = 0;           ///< from one barrier to the next
  std::uint64_t bytes = 0;      ///< that left a rank for another, over all ranks
  std::uint64_t hash = 0;       ///< of the whole result, the same for any number of ranks
  bool right = false;           ///< equal to the oracle's, on every rank
  std::string algorithms = {};  ///< that the collectives used
};

/// The work itself, on all ranks; rank 0 passes the material and the others null. The outcomes are rank 0's.
std::vector<outcome> work(tutti::communicator& world, const material* given);

}  // namespace demo

// SPDX-License-Identifier: Apache-2.0
//
// The work that the demo runs on an engine: the same three tasks everywhere, each timed, metered
// and compared with the oracle.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tutti/tutti.hpp>

#include "graph/edge_list.hpp"
#include "sort/words.hpp"

namespace demo {

/// The options of the user.
struct request {
  std::string edges, from;         ///< empty: packages of this machine; vertex with most edges
  std::vector<std::string> texts;  ///< empty: the documentation of this machine
  bool quiet = false;              ///< print no progress
};

/// The input and the right answers. Only rank 0 has them.
struct material {
  graph::edge_list graph;
  graph::vertex source = 0;
  std::vector<std::uint32_t> distances;
  std::vector<graph::vertex> components;
  sort::word_list texts;
  sort::string_array sorted;
};

/// Reads the input and runs the oracles. Throws input_error.
material read(const request&);

struct outcome {
  std::string name;             ///< "search", "components" or "sort"
  double seconds = 0;           ///< from one barrier to the next
  std::uint64_t bytes = 0;      ///< sent between different ranks, over all ranks
  std::uint64_t hash = 0;       ///< of the whole result, the same for any number of ranks
  bool right = false;           ///< equal to the oracle's, on every rank
  std::string algorithms = {};  ///< of the collectives
};

/// Runs the work on all ranks. Rank 0 passes the material, and the other ranks pass null. Rank 0
/// returns the outcomes.
std::vector<outcome> work(tutti::communicator& world, const material* input);

}  // namespace demo

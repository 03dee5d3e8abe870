// SPDX-License-Identifier: Apache-2.0
//
// The proof of a composition for a number of ranks. It runs the composite plans on symbols for many
// topologies, and for the calls that the restrictions permit there.
#pragma once

#include <string>
#include <vector>

#include "proof/prove.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::proof {

/// Topologies of `ranks` ranks without duplicates, of one to three levels. They are one node, nodes
/// of one rank, equal and unequal nodes, consecutive and scattered ones, some pseudorandom. If
/// `some` is true, only a few.
std::vector<hierarchy> topologies_of(int ranks, bool some = false);

/// The text for TUTTI_NODES, level by level: "0:0:1:1 / 0:0:0:0".
std::string text_of(const hierarchy& topology);

/// Returns whether the composition serves calls with this operator order, in place or not, with
/// `count` elements on this topology.
bool serves(const composed_algorithm& c, const hierarchy& topology, bool ordered, bool in_place,
            std::size_t count);

/// In the result, `calls` counts composed calls and `messages` their inner calls. `exhaustive`
/// tries every root, mode, count and choice of parameters on each topology.
proof_result prove(const composed_algorithm& c, int ranks, bool exhaustive = false);

}  // namespace tutti::proof

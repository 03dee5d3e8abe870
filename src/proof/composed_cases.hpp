// SPDX-License-Identifier: Apache-2.0
//
// The proof of a composition for a number of ranks: its programs are run on symbols for many layouts of ranks
// on nodes, and for the calls that its restrictions permit there.
#pragma once

#include <string>
#include <vector>

#include "proof/prove.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::proof {

/// Layouts of `ranks` ranks, no two alike: one node, nodes of one rank, equal and unequal nodes, consecutive
/// and scattered, of two and three levels, drawn ones. The fewest where `some` is true.
std::vector<hierarchy> layouts_of(int ranks, bool some = false);

/// As TUTTI_NODES takes it, level by level: "0:0:1:1 / 0:0:0:0".
std::string text_of(const hierarchy& layout);

/// Whether the composition serves calls of this operator, in place or not, of so many elements on that
/// layout.
bool serves(const composed_algorithm& c, const hierarchy& layout, bool ordered, bool in_place,
            std::size_t count);

/// `calls` of the proof are composed calls, `messages` the calls that they make.
/// `exhaustive`: on each of these layouts with every root, mode, count and choice of parameters.
proof_result prove(const composed_algorithm& c, int ranks, bool exhaustive = false);

}  // namespace tutti::proof

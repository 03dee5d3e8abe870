// SPDX-License-Identifier: Apache-2.0
//
// Grows decision trees from measurements. It is a pure function, so that tests need no
// measurements.
//
// The trees state only differences from the base, the document that decides now. Calls for which
// nothing beat the base keep the nodes of the base, so that the result can be overlaid on it. A
// measurement with p ranks serves the numbers of ranks from one above the previous measured number
// up to p. The smallest measured p serves from p / 2 + 1. Other numbers keep the choice of the
// base, and so do size 0 and sizes beyond four times the largest measured one. Between two sizes
// the choice changes near their geometric mean, and so it does between two numbers of ranks per
// node.
#pragma once

#include <string>
#include <vector>

#include "selection/tree.hpp"

namespace tutti::tuning {

using namespace tutti::detail;

/// The time of one choice, and its relative noise (0.05: it may be 5 % more).
struct timing {
  leaf use;
  double us = 0;
  double spread = 0;
};

/// All measurements of one call.
struct cell {
  selection_context context;
  /// requested bytes; the selection context of most vector forms does not contain them
  std::size_t size = 0;
  std::vector<timing> pure;      ///< native and algorithms
  std::vector<timing> composed;  ///< compositions, and "@pure" for the best choice without one
};

struct rules {
  /// The smallest relative difference that counts.
  double floor = 0.03;
  /// The mean relative gain that an algorithm needs to justify a change. The mean is over the calls
  /// that a leaf cannot distinguish.
  double gain = 0.05;
  /// How much slower, relatively, a faster algorithm may be in one of these calls.
  double tolerated_loss = 0;
  /// If true, an algorithm must beat the native collective if there is one; otherwise the current
  /// choice.
  bool beat_native = false;
  /// Also states the choices that stay as they are, so that the trees decide the same on any base.
  bool states_all = false;
  /// The choices for the largest number of ranks hold for more ranks.
  bool open_ended = false;
  /// Conditions of every region: properties that distinguish the measured machine.
  literals always{};
};

/// Returns whether a is faster than b beyond the noise of both.
bool beats(const timing& a, const timing& b, const rules& r) noexcept;

/// A call whose choice changes.
struct change {
  collective what = collective::barrier;
  tree_half half = tree_half::pure;
  int ranks = 1, nodes = 1;
  std::size_t size = 0;
  leaf before, after;
  double before_us = 0, after_us = 0;
};

struct grown {
  document made;  ///< for overlay on the base
  std::vector<change> changes;
};

/// `base` must decide all selection contexts of the cells. The result is legal, and total when
/// overlaid on the base.
grown grow(const document& base, const std::vector<cell>& cells, const rules& r);

/// Reads a document back from its text, alone and overlaid on the base. Returns the faults; empty
/// if there are none.
std::string faults_of(const document& base, const document& made);

}  // namespace tutti::tuning

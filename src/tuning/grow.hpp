// SPDX-License-Identifier: Apache-2.0
//
// From what was measured to decision trees: a pure function, so that it can be tested without measuring.
//
// The trees state differences only: wherever nothing beat what chooses now (the base), the base's own nodes
// stand in them, so that they can be laid over it. What was measured for p ranks serves from above the
// number measured before it (at least from p / 2 + 1) to p; other numbers stay as they are, and so do sizes
// of 0 and beyond four times the largest measured. Between two sizes the choice changes at their mean.
#pragma once

#include <string>
#include <vector>

#include "selection/tree.hpp"

namespace tutti::tuning {

/// How long one choice took, and how much of that is noise (0.05: it may as well be 5 % more).
struct timing {
  leaf use;
  double us = 0;
  double spread = 0;
};

/// All that was measured for one call.
struct cell {
  selection_context where;
  std::size_t size = 0;          ///< bytes that were asked for; the situation of most vector forms has none
  std::vector<timing> pure;      ///< native and algorithms
  std::vector<timing> composed;  ///< compositions, and as "@pure" what is run without one
};

struct rules {
  /// The least difference that counts, as a part.
  double floor = 0.03;
  /// How much quicker, in the mean of what a leaf cannot tell apart, an algorithm must be to be worth a
  /// change.
  double gain = 0.05;
  /// An algorithm must beat the engine's own collective where there is one; else what chooses now.
  bool beat_native = false;
  /// Conditions of every region: what the machine has that others have not.
  literals always{};
};

/// True where a is quicker than b beyond the noise of both.
bool beats(const timing& a, const timing& b, const rules& r) noexcept;

/// A choice that is another one than before.
struct change {
  collective what = collective::barrier;
  tree_half half = tree_half::pure;
  int ranks = 1;
  std::size_t size = 0;
  leaf before, after;
  double before_us = 0, after_us = 0;
};

struct grown {
  document made;  ///< to be laid over the base
  std::vector<change> changes;
};

/// `base` decides every situation of the cells. The result is legal, and total when laid over the base.
grown grow(const document& base, const std::vector<cell>& cells, const rules& r);

/// Reads a document back from its text, alone and laid over the base: empty where all is well, else the
/// faults.
std::string faults_of(const document& base, const document& made);

}  // namespace tutti::tuning

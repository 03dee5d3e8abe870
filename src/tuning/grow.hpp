// SPDX-License-Identifier: Apache-2.0
//
// Grows decision trees from measurements. It is a pure function, so that tests need no
// measurements.
//
// By default the trees state only differences from the base, the document that decides now, and
// other numbers of ranks keep its choice (rules::states_all, open_ended). Calls for which
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

/// The time of one choice. Its true value is between low() and high(), as far as the measurements
/// show (repeated_times.hpp). Simulated times have no spread.
struct timing {
  leaf use;
  double us = 0;
  double spread = 0;  ///< relative to us, above it
  double below = -1;  ///< the same below it; negative: as above
  // for reports
  std::size_t measurements = 1;
  double min_us = 0, median_us = 0;
  double iqr = 0;  ///< interquartile range, relative to us

  double high() const noexcept { return us * (1 + spread); }
  double low() const noexcept { return us * (1 - (below < 0 ? spread : below)); }
};

/// All measurements of one call.
struct cell {
  selection_context context;
  /// requested bytes; the selection context of most vector forms does not contain them
  std::size_t size = 0;
  std::vector<timing> pure;      ///< native and algorithms
  std::vector<timing> composed;  ///< compositions, and "@pure" for the best choice without one
  bool is_unclear = false;       ///< the noise may hide a faster choice, so the current one stays
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
  /// The times have no noise. Of equal choices the fastest is taken, otherwise the first of a fixed
  /// order (precedes()): the fastest of noisy times differs from run to run.
  bool exact_times = false;
  /// Conditions of every region: properties that distinguish the measured machine.
  literals always{};
};

/// Returns whether a is faster than b by r.floor, and the intervals of both do not overlap.
bool beats(const timing& a, const timing& b, const rules& r) noexcept;

/// Returns whether the intervals overlap and are so wide that a may be faster than b by r.gain.
/// More measurements can decide this.
bool may_beat(const timing& a, const timing& b, const rules& r) noexcept;
/// Returns whether one of them may be faster than the other by r.gain.
inline bool is_unclear(const timing& a, const timing& b, const rules& r) noexcept {
  return may_beat(a, b, r) || may_beat(b, a, r);
}

/// The choice that another one must beat to replace `current`, which decides these calls now.
leaf baseline(const selection_context& s, const leaf& current, tree_half half, const rules& r);

/// A call whose choice changes.
struct change {
  collective what = collective::barrier;
  tree_half half = tree_half::pure;
  int ranks = 1, nodes = 1;
  std::size_t size = 0;
  leaf before, after;
  double before_us = 0, after_us = 0;
  double before_iqr = 0, after_iqr = 0;  ///< relative interquartile ranges
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

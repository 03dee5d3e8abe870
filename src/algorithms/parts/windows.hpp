// SPDX-License-Identifier: Apache-2.0
//
// Writes transfers with many peers, a window of them in progress at the same time. A few transfers
// are written one by one, so that the executor can bind their peers in advance. Many are written as
// a loop, so that the size of a schedule does not depend on the number of ranks.
#pragma once

#include "schedule/builder.hpp"

namespace tutti::parts {

inline constexpr int default_window = 32;

/// Calls body(i, step) for transfers 0 .. count - 1. In a loop one call represents the transfers i,
/// i + step, i + 2 * step ... Ends a round after each window except the last, to which the caller
/// may add steps. `open` transfers are in the round already. Returns how many are in it at the end.
template <class Body>
int in_windows(builder& b, int count, int window, Body body, int open = 0) {
  constexpr int written_out = default_window;
  const int loops = count > written_out ? count / window : 0;
  if (loops > 0) {
    b.loop(loops, [&] {
      for (int i = 0; i < window; ++i) body(i, window);
    });
    open = 0;
  }
  for (int i = loops * window; i < count; ++i, ++open) {
    if (open == window) {
      b.round();
      open = 0;
    }
    body(i, 0);
  }
  return open;
}

/// The rank `from` + `distance` * (i + step * counter), modulo p: a peer for in_windows.
constexpr index around(int from, int distance, int i, int step, int p) {
  const int base = (from + distance * i) % p;
  return at(base < 0 ? base + p : base, distance * step, p);
}

}  // namespace tutti::parts

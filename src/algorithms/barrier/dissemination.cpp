// SPDX-License-Identifier: Apache-2.0
//
// barrier/dissemination
//
// In round i every rank notifies the ranks j * k^i above it, j = 1 .. k - 1, and is notified by
// those equally far below. After it, each rank knows, directly or not, that the k^(i + 1) ranks up
// to itself have entered. After ceil(log_k p) rounds these are all ranks.
//
// Source:       Hensgen, Finkel, Manber 1988
// Reach:        hops around with k = 2
// Parameters:   k = 2 in 2..1024: factor by which the number of known ranks grows in a round
// Rounds:       (k - 1) * (ceil_log(k, p) - 1) + ceil(p * k / pow(k, ceil_log(k, p))) - 1
// Bytes:        0
// Scratch:      0
// Good for:     any number of ranks
#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::barrier_dissemination {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, k = s.of(algorithm_parameter::k);
  const place in = blocks(buffer::input, 0, 0), out = blocks(buffer::output, 0, 0);
  for (long long distance = 1; distance < p; distance *= k) {
    const int d = static_cast<int>(distance);
    parts::in_windows(b, std::min(k - 1, (p - 1) / d), parts::default_window, [&](int i, int step) {
      b.exchange(parts::around(r + d, d, i, step, p), in, parts::around(r - d, -d, i, step, p), out);
    });
    b.round();
  }
}

}  // namespace tutti::algorithms::barrier_dissemination

// SPDX-License-Identifier: Apache-2.0
//
// allreduce/everybody
//
// A toy: every rank sends its operand to all others, a window of them at a time, and combines what
// it receives.
//
// Source:       folklore
// Restrictions: commutative, not_in_place
// Parameters:   window = 4 in 1..64: messages under way together
// Rounds:       p - 1
// Bytes:        n * (p - 1)
// Scratch:      n * min(window, p - 1)
// Good for:     tests
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_everybody {

void write(const shape& s, builder& b) {
  const int p = s.size, window = s.of(algorithm_parameter::window), turns = (p - 1) / window;
  const place own = whole(buffer::input), sum = whole(buffer::output);
  // Exchanges with the ranks at the distances first ... first + n - 1, which grow by `step` in each
  // iteration of a loop.
  const auto exchange_with = [&](int first, int n, int step) {
    for (int i = 0; i < n; ++i)
      b.exchange(at(s.rank + first + i, step, p), own, at(s.rank - first - i, -step, p),
                 block(buffer::scratch0, i));
    for (int i = 0; i < n; ++i) b.reduce(sum, block(buffer::scratch0, i), sum);
  };
  b.scratch(buffer::scratch0, std::min(window, p - 1));
  b.copy(own, sum);
  if (turns > 0) b.loop(turns, [&] { exchange_with(1, window, window); });
  exchange_with(1 + turns * window, (p - 1) % window, 0);
}

}  // namespace tutti::algorithms::allreduce_everybody

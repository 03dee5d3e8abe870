// SPDX-License-Identifier: Apache-2.0
//
// barrier/along
//
// A token travels from each end of the ranks to the other. A rank forwards a token only after it
// has entered the barrier. So a rank that has seen both tokens knows that all ranks have entered.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       p < 2 ? 0 : 2 * ceil(p / 2) - 1
// Bytes:        0
// Scratch:      0
// Good for:     groups whose members know only their neighbors
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::barrier_along {

void write(const shape& s, builder& b) {
  const place in = blocks(buffer::input, 0, 0), out = blocks(buffer::output, 0, 0);
  // The token of the nearer end arrives first.
  const bool left_is_near = 2 * s.rank < s.size;
  const int left = s.rank - 1, right = s.rank + 1;
  const int near = left_is_near ? left : right, far = left_is_near ? right : left;
  const auto exists = [&](int rank) { return rank >= 0 && rank < s.size; };
  if (exists(near)) b.recv(near, out);
  b.round();
  if (exists(far)) b.exchange(far, in, far, out);
  b.round();
  if (exists(near)) b.send(near, in);
}

}  // namespace tutti::algorithms::barrier_along

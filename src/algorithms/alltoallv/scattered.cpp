// SPDX-License-Identifier: Apache-2.0
//
// alltoallv/scattered
//
// Every rank sends to and receives from all others, beginning with its neighbours, a window of messages at a
// time.
//
// Source:       folklore; Thakur, Rabenseifner, Gropp 2005
// Restrictions: not_in_place
// Rounds:       p - 1
// Bytes:        n
// Scratch:      0
// Good for:     blocks of any lengths
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::alltoallv_scattered {

void write(const shape& s, builder& b) {
  constexpr int window = 8;
  const int p = s.size, r = s.rank;
  b.copy(block(buffer::input, r, table::in), block(buffer::output, r, table::out));
  b.round();
  const auto pair = [&](int distance, int step) {
    const index up = at(r + distance, step, p), down = at(r - distance, -step, p);
    b.exchange(up, block(buffer::input, up, table::in), down, block(buffer::output, down, table::out));
  };
  const int full = (p - 1) / window;
  b.loop(full, [&] {
    for (int i = 1; i <= window; ++i) pair(i, window);
  });
  for (int d = full * window + 1; d < p; ++d) pair(d, 0);
}

}  // namespace tutti::algorithms::alltoallv_scattered

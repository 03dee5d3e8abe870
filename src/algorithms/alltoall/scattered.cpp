// SPDX-License-Identifier: Apache-2.0
//
// alltoall/scattered, alltoallv/scattered, alltoallw/scattered
//
// Every rank sends to and receives from all others, beginning with its neighbours, a window of messages at a
// time: enough of them to hide what one waits for, too few to flood anybody.
//
// Source:       folklore; Thakur, Rabenseifner, Gropp 2005
// Restrictions: not_in_place
// Parameters:   window = 8 in 1..1024: messages under way together
// Rounds:       p - 1
// Bytes:        n - b
// Scratch:      0
// Good for:     blocks of any lengths
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::alltoall_scattered {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank, window = s.of(knob::window);
  const bool uniform = s.what == collective::alltoall;
  const table given = uniform ? table::uniform : table::in, taken = uniform ? table::uniform : table::out;
  b.copy(block(buffer::input, r, given), block(buffer::output, r, taken));
  b.round();
  const auto pair = [&](int distance, int step) {
    const index up = at(r + distance, step, p), down = at(r - distance, -step, p);
    b.exchange(up, block(buffer::input, up, given), down, block(buffer::output, down, taken));
  };
  const int full = (p - 1) / window;
  b.loop(full, [&] {
    for (int i = 1; i <= window; ++i) pair(i, window);
  });
  for (int d = full * window + 1; d < p; ++d) pair(d, 0);
}

}  // namespace tutti::algorithms::alltoall_scattered

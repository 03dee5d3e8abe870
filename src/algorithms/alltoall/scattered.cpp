// SPDX-License-Identifier: Apache-2.0
//
// alltoall/scattered, alltoallv/scattered, alltoallw/scattered
//
// Every rank sends to and receives from all others, the nearest first, a window of messages at a
// time. The window is large enough to hide waiting times and small enough not to overload a
// receiver.
//
// Source:       folklore (MPICH: scattered); Thakur, Rabenseifner, Gropp 2005
// Restrictions: not_in_place
// Parameters:   window = 8 in 1..1024: messages in progress at the same time
// Rounds:       p - 1
// Bytes:        n - b
// Scratch:      0
// Good for:     blocks of any lengths
#include "algorithms/parts/windows.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::alltoall_scattered {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  const bool uniform = s.what == collective::alltoall;
  const partition in = uniform ? partition::uniform : partition::input_counts,
                  out = uniform ? partition::uniform : partition::output_counts;
  b.copy(block(buffer::input, r, in), block(buffer::output, r, out));
  b.round();
  parts::in_windows(b, p - 1, s.of(algorithm_parameter::window), [&](int i, int step) {
    const index up = parts::around(r, 1, i + 1, step, p), down = parts::around(r, -1, i + 1, step, p);
    b.exchange(up, block(buffer::input, up, in), down, block(buffer::output, down, out));
  });
}

}  // namespace tutti::algorithms::alltoall_scattered

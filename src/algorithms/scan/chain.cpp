// SPDX-License-Identifier: Apache-2.0
//
// scan/chain
//
// A chain along the ranks, in segments: each rank combines what arrives from the rank below on the
// left of its operand. It receives one segment while it forwards the result of the one before.
//
// Source:       folklore, pipelined chain; compared with trees by Sanders, Traeff 2006
// Reach:        neighbors
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       p > 1 ? segments + p - 2 : 0
// Bytes:        p > 1 ? n : 0
// Scratch:      0
// Good for:     vectors of many more segments than there are ranks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::scan_chain {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  const auto part = [](buffer which, int first) { return segment(whole(which), at(first, 1)); };
  const auto add = [&] { b.recv_reduce_left({r - 1}, part(buffer::input, 0), part(buffer::output, 0)); };
  if (r == 0) {
    if (p > 1) b.loop({0, 1}, [&] { b.send(1, part(buffer::input, 0)); });
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
  } else if (r == p - 1) {
    b.loop({0, 1}, add);
  } else {
    b.loop({1, 1}, [&] {
      add();
      b.send(r + 1, part(buffer::output, -1));
    });
  }
}

}  // namespace tutti::algorithms::scan_chain

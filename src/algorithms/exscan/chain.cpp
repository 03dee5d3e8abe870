// SPDX-License-Identifier: Apache-2.0
//
// exscan/chain
//
// A chain along the ranks, in segments. What arrives from the rank below is the result; combined
// with the own operand on the right, it is sent to the rank above. A rank receives one segment
// while it sends the one before. In place, the combined segment replaces the operand until it has
// been sent.
//
// Source:       folklore, pipelined chain; compared with trees by Sanders, Traeff 2006
// Reach:        neighbors
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       p > 1 ? segments + p - 2 : 0
// Bytes:        p > 1 ? n : 0
// Scratch:      p > 2 ? n : 0
// Good for:     vectors of many more segments than there are ranks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::exscan_chain {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  if (p == 1) return;
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  const auto part = [](buffer which, int first) { return segment(whole(which), at(first, 1)); };
  if (r == 0) {
    b.loop({0, 1}, [&] { b.send(1, part(buffer::input, 0)); });
  } else if (r == p - 1) {
    b.loop({0, 1}, [&] { b.recv(r - 1, part(buffer::output, 0)); });
  } else {
    b.scratch(buffer::scratch0, 1);
    const buffer result = s.in_place ? buffer::scratch0 : buffer::output;
    const buffer forwarded = s.in_place ? buffer::output : buffer::scratch0;
    b.loop({1, 1}, [&] {
      b.recv(r - 1, part(result, 0));
      b.send(r + 1, part(forwarded, -1));
      b.reduce(part(result, 0), part(buffer::input, 0), part(forwarded, 0));
      if (s.in_place) b.copy(part(result, -1), part(buffer::output, -1));
    });
  }
}

}  // namespace tutti::algorithms::exscan_chain

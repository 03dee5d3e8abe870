// SPDX-License-Identifier: Apache-2.0
//
// bcast/chain
//
// The vector travels from rank to rank in segments. A rank forwards one segment while it receives
// the next.
//
// Source:       folklore; pipelined chain
// Reach:        neighbors around
// Parameters:   segment = 65536 in 1..1073741824: bytes of one message
// Rounds:       p > 1 ? segments + p - 2 : 0
// Bytes:        p > 1 ? n : 0
// Scratch:      0
// Good for:     vectors with many more segments than there are ranks
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::bcast_chain {

void write(const shape& s, builder& b) {
  const int v = s.relative();
  if (s.size == 1) return;
  b.segments_of(static_cast<std::size_t>(s.of(algorithm_parameter::segment)));
  if (v == 0) {
    b.loop({0, 1}, [&] { b.send(s.absolute(1), segment(whole(buffer::input), at(0, 1))); });
    return;
  }
  const bool last = v == s.size - 1;
  b.loop({last ? 0 : 1, 1}, [&] {
    b.recv(s.absolute(v - 1), segment(whole(buffer::output), at(0, 1)));
    if (!last) b.send(s.absolute(v + 1), segment(whole(buffer::output), at(-1, 1)));
  });
}

}  // namespace tutti::algorithms::bcast_chain

// SPDX-License-Identifier: Apache-2.0
//
// exscan/linear
//
// A chain along the ranks. What arrives from the rank below is the result; combined with the own
// operand on the right, it is sent to the rank above.
//
// Source:       folklore
// Reach:        neighbors
// Rounds:       p - 1
// Bytes:        p > 1 ? n : 0
// Scratch:      p > 2 ? n : 0
// Good for:     few ranks, or ranks that arrive one after the other
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::exscan_linear {

void write(const shape& s, builder& b) {
  const int p = s.size, r = s.rank;
  const place in = whole(buffer::input), out = whole(buffer::output), scratch = whole(buffer::scratch0);
  if (r == 0) {
    if (p > 1) b.send(1, in);
    return;
  }
  if (r + 1 == p) {
    b.recv(r - 1, out);
    return;
  }
  // In place, the operand occupies the output until it has been combined and sent.
  b.scratch(buffer::scratch0, 1);
  const place result = s.in_place ? scratch : out, forwarded = s.in_place ? out : scratch;
  b.recv(r - 1, result);
  b.reduce(result, in, forwarded);
  b.send(r + 1, forwarded);
  if (s.in_place) b.copy(scratch, out);
}

}  // namespace tutti::algorithms::exscan_linear

// SPDX-License-Identifier: Apache-2.0
//
// allreduce/recursive_doubling
//
// Ranks are folded to a power of two, neighbours together; then in round i group g exchanges its whole
// partial result with group g xor 2^i, the lower group being the left operand. Target and source alternate
// between two buffers, since the partner may still read what was sent.
//
// Source:       Thakur, Rabenseifner, Gropp 2005
// Rounds:       floor(log2(p)) + (p == pof2 ? 0 : 2)
// Bytes:        n * floor(log2(p)) + (p == pof2 ? 0 : n)
// Scratch:      n
// Good for:     short vectors, and operators that do not commute
#include "patterns/fold.hpp"
#include "schedule/algorithm.hpp"

namespace tutti::algorithms::allreduce_recursive_doubling {

void write(const shape& s, builder& b) {
  const patterns::fold f(s.size);
  const int g = f.group_of(s.rank);
  if (f.follows(s.rank)) {
    b.send(s.rank - 1, whole(buffer::input));
    b.round();
    b.recv(s.rank - 1, whole(buffer::output));
    return;
  }
  int combinations = f.in_pair(s.rank) ? 1 : 0;
  for (int mask = 1; mask < f.groups; mask *= 2) ++combinations;
  if (combinations == 0) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  // Targets alternate so that the last is output. In place the operand stands in output already, and the
  // first exchange must not write there: then all targets change places and a copy ends it.
  bool swapped = false;
  const auto target = [&](int i) {
    return ((combinations - 1 - i) % 2 == 0) != swapped ? buffer::output : buffer::scratch0;
  };
  if (s.in_place && !f.in_pair(s.rank) && target(0) == buffer::output) swapped = true;
  if (combinations > 1 || swapped) b.scratch(buffer::scratch0, 1);
  place own = whole(buffer::input);
  int i = 0;
  if (f.in_pair(s.rank)) {
    b.recv_reduce_right({s.rank + 1}, own, whole(target(i)));
    b.round();
    own = whole(target(i++));
  }
  for (int mask = 1; mask < f.groups; mask *= 2, ++i) {
    const int partner = f.leader_of(g ^ mask);
    b.send(partner, own);
    b.recv_reduce(partner, (g & mask) != 0, own, whole(target(i)));
    b.round();
    own = whole(target(i));
  }
  if (swapped) b.copy(own, whole(buffer::output));
  b.round();
  if (f.in_pair(s.rank)) b.send(s.rank + 1, whole(buffer::output));
}

}  // namespace tutti::algorithms::allreduce_recursive_doubling

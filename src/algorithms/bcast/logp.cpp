// SPDX-License-Identifier: Apache-2.0
//
// bcast/logp
//
// The fastest tree for short vectors in the LogP model: a rank sends to one child after another
// while its earlier messages are still on their way. A child that is served earlier has more time,
// so it has the larger subtree. k is the time of a message in units of the time after which a rank
// can begin the next one: (L + 2 o) / max(o, g). With k = 1 it is the binomial tree.
//
// Source:       Karp, Sahay, Santos, Schauser 1993 (SPAA); the postal model of Bar-Noy, Kipnis 1992
// Parameters:   k = 6 in 1..64: number of messages that a rank can begin while one is on its way
// Rounds:       <= p == 1 ? 0 : min(p - 1, k * (ceil_log(2, p) - 1) + 1)
// Bytes:        <= p == 1 ? 0 : n * min(p - 1, k * (ceil_log(2, p) - 1) + 1)
// Scratch:      0
// Good for:     short vectors on many ranks, if a message takes several times as long as its send
#include "schedule/algorithm.hpp"
#include "schedule/patterns/logp_tree.hpp"

namespace tutti::algorithms::bcast_logp {

void write(const shape& s, builder& b) {
  const int v = s.relative();
  const patterns::logp_tree tree(v, s.size, s.of(algorithm_parameter::k));
  if (v != 0) b.recv(s.absolute(tree.parent), whole(buffer::output));
  for (const int child : tree.children) {
    b.round();
    b.send(s.absolute(child), whole(v == 0 ? buffer::input : buffer::output));
  }
}

}  // namespace tutti::algorithms::bcast_logp

// SPDX-License-Identifier: Apache-2.0
//
// barrier/recursive_exchange
//
// The number of ranks is written as a product of factors of at most k; where it is none, consecutive ranks
// are first gathered in groups behind their lowest. In each round as many groups as a factor says tell one
// another that they and all they have heard of are there. At the end the groups' other members are told.
//
// Source:       folklore; Thakur, Rabenseifner, Gropp 2005 (recursive doubling)
// Parameters:   k = 4 in 2..64: the greatest factor, one more than the messages of a rank under way together
// Rounds:       <= (k - 1) * floor_log(k, p) + 2 * (ceil(p / pow(k, floor_log(k, p))) - 1)
// Bytes:        0
// Scratch:      0
// Good for:     ranks whose number is a power of k, and pairs of which both sides speak at once
#include "schedule/algorithm.hpp"
#include "schedule/patterns/factors.hpp"

namespace tutti::algorithms::barrier_recursive_exchange {

void write(const shape& s, builder& b) {
  const patterns::factors f(s.size, s.of(algorithm_parameter::k));
  const place in = blocks(buffer::input, 0, 0), out = blocks(buffer::output, 0, 0);
  const int g = f.group_of(s.rank), leader = f.leader_of(g), members = f.members_of(g);
  if (s.rank != leader) {
    b.exchange(leader, in, leader, out);
    return;
  }
  for (int i = 1; i < members; ++i) b.recv(leader + i, out);
  b.round();
  int distance = 1;
  for (const int factor : f.all) {
    const int digit = g / distance % factor;
    const auto member = [&](int j) { return f.leader_of(g + (j % factor - digit) * distance); };
    for (int t = 1; t < factor; ++t) b.exchange(member(digit + t), in, member(digit + factor - t), out);
    b.round();
    distance *= factor;
  }
  for (int i = 1; i < members; ++i) b.send(leader + i, in);
}

}  // namespace tutti::algorithms::barrier_recursive_exchange

// SPDX-License-Identifier: Apache-2.0
//
// barrier/recursive_exchange
//
// The number of ranks is written as a product of factors of at most k. If this is impossible,
// consecutive ranks form groups and first report to the lowest rank of their group. In each round,
// sets of `factor` groups notify one another that they and all groups known to them have entered.
// At the end the leaders notify the other members of their groups.
//
// Source:       folklore; Thakur, Rabenseifner, Gropp 2005 (recursive doubling)
// Parameters:   k = 4 in 2..64: the largest factor, one more than the number of messages of a rank
//                 in progress
// Rounds:       <= (k - 1) * floor_log(k, p) + 2 * (ceil(p / pow(k, floor_log(k, p))) - 1)
// Bytes:        0
// Scratch:      0
// Good for:     a number of ranks that is a power of k, and networks on which both sides of a pair
//                 send at once
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

// SPDX-License-Identifier: Apache-2.0
//
// Pairs every rank with every other rank once, as in a round-robin tournament. There are m steps; m
// is the odd one of p and p - 1. In step i, two ranks whose sum is 2 i modulo m form a pair. Rank i
// would be paired with itself: it is paired with rank m if p is even, and idle if p is odd.
#pragma once

#include "schedule/algorithm.hpp"

namespace tutti::parts {

/// body(partner) writes the steps for one partner.
template <class Body>
void exchange_with_all(const shape& s, builder& b, Body&& body) {
  const int p = s.size, r = s.rank, m = p % 2 == 0 ? p - 1 : p;
  if (r == m) {
    b.loop(m, [&] { body(at(0, 1)); });
    return;
  }
  b.loop(r, [&] { body(at(-r, 2, m)); });
  if (m < p) body(index{m});
  b.loop(m - 1 - r, [&] { body(at(r + 2, 2, m)); });
}

/// Exchanges the blocks of the operand for those of the result if both are one buffer. A received
/// block waits in scratch0 until the block that it replaces has been sent.
inline void exchange_in_place(const shape& s, builder& b, partition how) {
  b.scratch(buffer::scratch0, 1, how);
  exchange_with_all(s, b, [&](index partner) {
    const place mine = block(buffer::output, partner, how);
    place received = packed(mine);
    received.where = buffer::scratch0;
    b.exchange(partner, mine, partner, received);
    b.copy(received, mine);
  });
}

}  // namespace tutti::parts

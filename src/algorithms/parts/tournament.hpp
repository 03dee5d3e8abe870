// SPDX-License-Identifier: Apache-2.0
//
// Everybody meets everybody else once, two at a time, as in a tournament: in step i of m, the odd one of p
// and p - 1, those meet whose numbers add up to 2 i modulo m. Rank i would meet itself: it meets rank m where
// p is even, and rests where p is odd.
#pragma once

#include "schedule/algorithm.hpp"

namespace tutti::parts {

/// body(partner) writes one meeting.
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

/// Exchanges the operand's blocks for the result's where both are one memory: what comes stands in scratch0
/// until what it replaces has left.
inline void exchange_in_place(const shape& s, builder& b, table how) {
  b.scratch(buffer::scratch0, 1, how);
  exchange_with_all(s, b, [&](index partner) {
    const place mine = block(buffer::output, partner, how);
    place aside = packed(mine);
    aside.where = buffer::scratch0;
    b.exchange(partner, mine, partner, aside);
    b.copy(aside, mine);
  });
}

}  // namespace tutti::parts

// SPDX-License-Identifier: Apache-2.0
//
// Recursive halving and its reverse over 2^bits consecutive pieces of a vector. In round j a rank and its
// partner share a range of 2^(bits - j) pieces, of which each is responsible for one half. Every rank has a
// position, such that partners of round j agree in its upper j bits and differ in the next; the piece of that
// number is the rank's own at the end. Which order of ranks that is, and so how far which round reaches, is
// the pattern's.
#pragma once

#include "schedule/builder.hpp"

namespace tutti::parts {

/// The halves of round j at a position.
struct halves {
  int size;  // pieces in each
  int kept;  // where the own half begins
  int given;

  constexpr halves(int bits, int position, int j)
      : size(1 << (bits - 1 - j)), kept(position & -size), given(kept ^ size) {}
};

/// From `operand` all over to the own piece of `result`, where partial results stand in between; the two may
/// be one. partner(j) is a rank; operand(first, n) and result(first, n) are places of n pieces. In no order.
template <class Partner, class Operand, class Result>
void reduce_by_halves(builder& b, int bits, int position, Partner&& partner, Operand&& operand,
                      Result&& result) {
  for (int j = 0; j < bits; ++j) {
    const halves h(bits, position, j);
    const auto held = [&](int first) { return j == 0 ? operand(first, h.size) : result(first, h.size); };
    b.send(partner(j), held(h.given));
    b.recv_reduce_right({partner(j)}, held(h.kept), result(h.kept, h.size));
    b.round();
  }
}

/// From the own piece of `result` to all of it.
template <class Partner, class Result>
void gather_by_halves(builder& b, int bits, int position, Partner&& partner, Result&& result) {
  for (int j = bits - 1; j >= 0; --j) {
    const halves h(bits, position, j);
    b.exchange(partner(j), result(h.kept, h.size), partner(j), result(h.given, h.size));
    b.round();
  }
}

}  // namespace tutti::parts

// SPDX-License-Identifier: Apache-2.0
//
// Recursive halving and its reverse over 2^bits consecutive pieces of a vector. In round j a rank
// and its partner share a range of 2^(bits - j) pieces, and each keeps one half. Every rank has a
// position: partners of round j agree in its upper j bits and differ in the next bit. The piece
// with the number of its position is the rank's own at the end. The pattern determines the order of
// ranks, and so the distances in each round.
#pragma once

#include "schedule/builder.hpp"

namespace tutti::parts {

/// The halves of round j at a position.
struct halves {
  int size;  // pieces in each half
  int kept;  // first piece of the own half
  int sent;

  constexpr halves(int bits, int position, int j)
      : size(1 << (bits - 1 - j)), kept(position & -size), sent(kept ^ size) {}
};

/// Reduces the whole `operand` to the own piece of `result`, which also holds partial results; both
/// may be the same memory. partner(j) returns a rank; operand(first, n) and result(first, n) return
/// places of n pieces. The order of operands is not preserved.
template <class Partner, class Operand, class Result>
void reduce_by_halves(builder& b, int bits, int position, Partner&& partner, Operand&& operand,
                      Result&& result) {
  for (int j = 0; j < bits; ++j) {
    const halves h(bits, position, j);
    const auto current = [&](int first) { return j == 0 ? operand(first, h.size) : result(first, h.size); };
    b.send(partner(j), current(h.sent));
    b.recv_reduce_right({partner(j)}, current(h.kept), result(h.kept, h.size));
    b.round();
  }
}

/// Gathers the own pieces of `result` to the whole vector.
template <class Partner, class Result>
void gather_by_halves(builder& b, int bits, int position, Partner&& partner, Result&& result) {
  for (int j = bits - 1; j >= 0; --j) {
    const halves h(bits, position, j);
    b.exchange(partner(j), result(h.kept, h.size), partner(j), result(h.sent, h.size));
    b.round();
  }
}

}  // namespace tutti::parts

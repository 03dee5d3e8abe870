// SPDX-License-Identifier: Apache-2.0
//
// Exchanges blocks of the output that are a stride apart, modulo p. They travel as one message,
// packed and unpacked by loops of copies. Algorithms with such messages are for small blocks, for
// which a copy costs less than a message. For large blocks other algorithms move less data.
#pragma once

#include "schedule/builder.hpp"

namespace tutti::parts {

/// `count` of the p blocks in the output.
struct strided {
  int first, stride, count;
  int per_turn = 0;  // increment of `first` in each iteration of the loop around the exchange
};

/// If count > 1, scratch0 must have 2 * count blocks.
inline void exchange_strided(builder& b, int p, int to, strided sent, int from, strided received) {
  b.round();
  if (sent.count == 1) {
    b.exchange(to, block(buffer::output, at(sent.first, sent.per_turn, p)), from,
               block(buffer::output, at(received.first, received.per_turn, p)));
    b.round();
    return;
  }
  const auto one = [&](const strided& all) {
    return block(buffer::output, {all.first, all.per_turn, all.stride, p});
  };
  b.loop(sent.count, [&] { b.copy(one(sent), block(buffer::scratch0, at(0, 1))); });
  b.exchange(to, blocks(buffer::scratch0, 0, sent.count), from,
             blocks(buffer::scratch0, sent.count, received.count));
  b.loop(received.count, [&] { b.copy(block(buffer::scratch0, at(sent.count, 1)), one(received)); });
}

}  // namespace tutti::parts

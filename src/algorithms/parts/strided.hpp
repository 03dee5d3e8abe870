// SPDX-License-Identifier: Apache-2.0
//
// Exchanging blocks of the output that lie a stride apart, around the end. They travel as one message, packed
// by a loop of copies on either side: where such blocks are small, which is where algorithms with such
// messages are good, a copy costs less than a message, and where they are large other algorithms move less.
#pragma once

#include "schedule/builder.hpp"

namespace tutti::parts {

/// `count` blocks of the p in the output.
struct strided {
  int first, stride, count;
  int per_turn = 0;  // how much further `first` is in each turn of the loop that the exchange stands in
};

/// scratch0 has 2 * count blocks where count > 1.
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

// SPDX-License-Identifier: Apache-2.0
//
// Messages of blocks that are not all consecutive, and an allgather among some ranks with such
// messages. All blocks are in the output, each in its final position from the beginning. Only
// messages that are not a single range pass through scratch memory, once when sent and once when
// received.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/builder.hpp"

namespace tutti::parts {

/// Consecutive blocks.
struct range {
  int first, count;
};
using ranges = std::vector<range>;

inline int count_of(const ranges& all) {
  int n = 0;
  for (const range& one : all) n += one.count;
  return n;
}

/// Appends blocks first .. first + count - 1, modulo p.
inline void append_cyclic(ranges& all, int first, int count, int p) {
  if (count <= 0) return;
  first %= p;
  const int simple = std::min(count, p - first);
  all.push_back({first, simple});
  if (simple < count) all.push_back({0, count - simple});
}
inline ranges cyclic(int first, int count, int p) {
  ranges all;
  append_cyclic(all, first, count, p);
  return all;
}

/// Provides places for ranges of the output during one round. to_send() must be called before the
/// round's transfers are written.
class packing {
 public:
  explicit packing(builder& b) : b_(b) {}

  place to_send(const ranges& all) {
    if (all.size() == 1) return blocks(buffer::output, all[0].first, all[0].count);
    const place packed = allocate(count_of(all));
    int at = packed.first.base;
    for (const range& one : all) {
      b_.copy(blocks(buffer::output, one.first, one.count), blocks(buffer::scratch0, at, one.count));
      at += one.count;
    }
    return packed;
  }
  place to_receive(const ranges& all) {
    if (all.size() == 1) return blocks(buffer::output, all[0].first, all[0].count);
    const place packed = allocate(count_of(all));
    arriving_.emplace_back(packed.first.base, all);
    return packed;
  }
  void end_round() {
    for (auto& [at, all] : arriving_)
      for (const range& one : all) {
        b_.copy(blocks(buffer::scratch0, at, one.count), blocks(buffer::output, one.first, one.count));
        at += one.count;
      }
    arriving_.clear();
    used_ = 0;
    b_.round();
  }

 private:
  place allocate(int n) {
    const place p = blocks(buffer::scratch0, used_, n);
    used_ += n;
    max_used_ = std::max(max_used_, used_);
    b_.scratch(buffer::scratch0, max_used_);
    return p;
  }

  builder& b_;
  int used_ = 0, max_used_ = 0;
  std::vector<std::pair<int, ranges>> arriving_;
};

/// Allgather among `members`, each of which has a chunk of any number of blocks. A member with D
/// chunks, its own and those above it, receives the next D from the member D above. It receives D
/// more from each of the k - 1 members D, 2 D, ... above. rank_of(i) is the rank of member i;
/// chunks(i, n) are the blocks of n chunks from number i on, modulo `members`.
template <class Rank, class Chunks>
void bruck(builder& b, packing& messages, int members, int me, int k, Rank&& rank_of, Chunks&& chunks) {
  for (long long held = 1; held < members; held *= k) {
    const int d = static_cast<int>(held);
    const place own = messages.to_send(chunks(me, std::min(d, members - d)));
    for (int j = 1; j < k && j * held < members; ++j) {
      const int n = std::min(d, members - j * d);
      place sent = own;  // the first blocks of it
      sent.blocks = count_of(chunks(me, n));
      if (sent.blocks > 0) b.send(rank_of((me - j * d + members) % members), sent);
      const ranges wanted = chunks((me + j * d) % members, n);
      if (count_of(wanted) > 0) b.recv(rank_of((me + j * d) % members), messages.to_receive(wanted));
    }
    messages.end_round();
  }
}

}  // namespace tutti::parts

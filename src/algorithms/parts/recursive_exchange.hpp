// SPDX-License-Identifier: Apache-2.0
//
// Allreduce of whole vectors. The number of groups is a product of factors of at most k; in each
// round, sets of `factor` groups exchange their partial results. All ranks combine operands in rank
// order and in the same way, so that all results are identical to the bit.
#pragma once

#include "algorithms/parts/alternating_buffers.hpp"
#include "algorithms/parts/folding.hpp"
#include "schedule/builder.hpp"
#include "schedule/patterns/factors.hpp"

namespace tutti::parts {

/// All members of a set send their partial results and combine all of them into a separate target.
/// The first two are combined in the target; the later ones wait in slots of scratch1.
template <class Member>
void exchange_among(builder& b, int count, int digit, Member&& member, place own, place target) {
  for (int t = 1; t < count; ++t) b.send(member((digit + t) % count), own);
  const auto waiting = [&](int j) {
    if (j == digit) return own;
    return block(buffer::scratch1, digit < 2 || j > digit ? j - 2 : j - 1);
  };
  for (int t = count - 1; t > 0; --t) {
    const int j = (digit + t) % count;
    if (j == 1 - digit)
      b.recv_reduce(member(j), j < digit, own, target);
    else
      b.recv(member(j), j == 0 ? target : waiting(j));
  }
  for (int j = digit < 2 ? 2 : 1; j < count; ++j) b.reduce(target, waiting(j), target);
  b.round();
}

inline void recursive_exchange(const shape& s, builder& b, int k) {
  if (s.size == 1) {
    if (!s.in_place) b.copy(whole(buffer::input), whole(buffer::output));
    return;
  }
  const patterns::factors f(s.size, k);
  if (write_follower(b, f, s.rank)) return;
  const bool leads = f.in_pair(s.rank);
  const alternating_buffers targets(static_cast<int>(f.all.size()), 0, s.in_place && !leads);
  if (targets.use_scratch() || leads) b.scratch(buffer::scratch0, 1);
  if (f.largest() > 2) b.scratch(buffer::scratch1, f.largest() - 2);

  const buffer before = targets.of(0) == buffer::output ? buffer::scratch0 : buffer::output;
  place own = reduce_from_follower(b, f, s.rank, before);
  const int group = f.group_of(s.rank);
  for (int i = 0, distance = 1; const int factor : f.all) {
    const int digit = group / distance % factor;
    const auto member = [&](int j) { return f.leader_of(group + (j - digit) * distance); };
    const place target = whole(targets.of(i++));
    exchange_among(b, factor, digit, member, own, target);
    own = target;
    distance *= factor;
  }
  if (targets.end_in_scratch()) b.copy(own, whole(buffer::output));
  send_to_follower(b, f, s.rank);
}

}  // namespace tutti::parts

// SPDX-License-Identifier: Apache-2.0
//
// The ends of an allreduce over the groups of a fold: a rank that follows another gives it its operand at the
// beginning and gets the result at the end.
#pragma once

#include "schedule/builder.hpp"
#include "schedule/patterns/fold.hpp"

namespace tutti::parts {

/// All that a rank does that follows; false if it does not.
inline bool follow(builder& b, const patterns::fold& f, int rank) {
  if (!f.follows(rank)) return false;
  b.send(rank - 1, whole(buffer::input));
  b.round();
  b.recv(rank - 1, whole(buffer::output));
  return true;
}

/// What one does that leads: the operand of its group is where this says.
inline place take_in_follower(builder& b, const patterns::fold& f, int rank, buffer target) {
  if (!f.in_pair(rank)) return whole(buffer::input);
  b.recv_reduce_right({rank + 1}, whole(buffer::input), whole(target));
  b.round();
  return whole(target);
}
/// And when the result is there.
inline void answer_follower(builder& b, const patterns::fold& f, int rank) {
  b.round();
  if (f.in_pair(rank)) b.send(rank + 1, whole(buffer::output));
}

}  // namespace tutti::parts

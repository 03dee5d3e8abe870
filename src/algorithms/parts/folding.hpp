// SPDX-License-Identifier: Apache-2.0
//
// The beginning and the end of an allreduce over the groups of a fold. A rank that follows another
// one sends it its operand at the beginning and receives the result at the end.
#pragma once

#include "schedule/builder.hpp"
#include "schedule/patterns/fold.hpp"

namespace tutti::parts {

/// Writes the whole schedule of a rank that follows another; returns false for other ranks.
inline bool write_follower(builder& b, const patterns::fold& f, int rank) {
  if (!f.is_follower(rank)) return false;
  b.send(rank - 1, whole(buffer::input));
  b.round();
  b.recv(rank - 1, whole(buffer::output));
  return true;
}

/// Writes the beginning for a rank that leads. Returns the place of its group's operand.
inline place reduce_from_follower(builder& b, const patterns::fold& f, int rank, buffer target) {
  if (!f.in_pair(rank)) return whole(buffer::input);
  b.recv_reduce_right({rank + 1}, whole(buffer::input), whole(target));
  b.round();
  return whole(target);
}
/// Writes the end for a rank that leads; the result must be in the output.
inline void send_to_follower(builder& b, const patterns::fold& f, int rank) {
  b.round();
  if (f.in_pair(rank)) b.send(rank + 1, whole(buffer::output));
}

}  // namespace tutti::parts

// SPDX-License-Identifier: Apache-2.0
//
// Groups of consecutive ranks behind their lowest: operands come in at the beginning of an allreduce, in
// rank order, and results go out at its end.
#pragma once

#include "patterns/factors.hpp"
#include "schedule/builder.hpp"

namespace tutti::parts {

/// All that a rank does that is not the lowest of its group; false if it is.
inline bool follow(builder& b, const patterns::factors& f, int rank) {
  const int leader = f.leader_of(f.group_of(rank));
  if (rank == leader) return false;
  b.send(leader, whole(buffer::input));
  b.round();
  b.recv(leader, whole(buffer::output));
  return true;
}
/// The lowest of a group of several: adds their operands to its own.
inline void gather_operands(builder& b, const patterns::factors& f, int group, place own, place target) {
  for (int i = 1; i < f.members_of(group); ++i) {
    b.recv_reduce_right({f.leader_of(group) + i}, i == 1 ? own : target, target);
    b.round();
  }
}
/// And at the end.
inline void give_results(builder& b, const patterns::factors& f, int group) {
  for (int i = 1; i < f.members_of(group); ++i) b.send(f.leader_of(group) + i, whole(buffer::output));
}

}  // namespace tutti::parts

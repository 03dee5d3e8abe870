// SPDX-License-Identifier: Apache-2.0
//
// Assigns times in the one-port model. A message gets its time when it is the first without a time
// of both its sender and its receiver. So the order depends only on the lists of the schedules.
#include <algorithm>

#include "proof/abstract_state.hpp"

namespace tutti::proof {

// Assigns a time to the first message of `from`. It is also the next message of its receiver `to`,
// or is forced to be.
void abstract_machine::state::give_time(int from, int to) {
  rank_state &sender = of(from), &receiver = of(to);
  transfer& out = sender.sends[sender.send_head];
  transfer& in = receiver.recvs[static_cast<std::size_t>(out.mate)];
  out.time = std::max(sender.send_free, receiver.recv_free);
  sender.send_free = receiver.recv_free = out.time + 1;
  out.timed = true;
  ++sender.send_head;
  if (out.what->kind == step_kind::put) return;  // its await_signal advances the receiver
  in.time = out.time;
  in.timed = true;
  while (receiver.recv_head < receiver.recvs.size() && receiver.recvs[receiver.recv_head].timed)
    ++receiver.recv_head;
}

void abstract_machine::state::time_messages_of(int rank) {
  // A message that gets its time unblocks the next one of its sender, and another sender's message
  // to the same receiver.
  std::vector<int>& open = untimed_;
  open.assign(1, rank);
  while (!open.empty()) {
    const int from = open.back();
    rank_state& sender = of(from);
    if (!sender.open || sender.send_head == sender.sends.size() || !sender.sends[sender.send_head].met) {
      open.pop_back();
      continue;
    }
    const transfer& out = sender.sends[sender.send_head];
    const int to = out.peer;
    rank_state& receiver = of(to);
    if (static_cast<std::size_t>(out.mate) != receiver.recv_head) {
      open.pop_back();
      continue;
    }
    give_time(from, to);
    if (receiver.recv_head < receiver.recvs.size()) open.push_back(receiver.recvs[receiver.recv_head].peer);
    note_if_done(from);
    note_if_done(to);
  }
}

bool abstract_machine::state::force_one_message() {
  int best = -1;
  std::int64_t when = 0;
  for (int r = 0; r < plan_->ranks; ++r) {
    const rank_state& sender = of(r);
    if (!sender.open || sender.send_head == sender.sends.size() || !sender.sends[sender.send_head].met)
      continue;
    const std::int64_t its = std::max(sender.send_free, of(sender.sends[sender.send_head].peer).recv_free);
    if (best >= 0 && its >= when) continue;
    best = r;
    when = its;
  }
  if (best < 0) return false;
  const int to = of(best).sends[of(best).send_head].peer;
  give_time(best, to);
  note_if_done(best);
  note_if_done(to);
  if (of(to).recv_head < of(to).recvs.size()) time_messages_of(of(to).recvs[of(to).recv_head].peer);
  time_messages_of(best);
  return true;
}

}  // namespace tutti::proof

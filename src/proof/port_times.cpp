// SPDX-License-Identifier: Apache-2.0
//
// Assigns times in the one-port model. A message gets its time when it is the first without a time
// of both its sender and its receiver. So the order depends only on the lists of the schedules.
#include <algorithm>

#include "proof/abstract_state.hpp"

namespace tutti::proof {

// Assigns a time to the first message of `from`. It is also the next message of its receiver `to`,
// or is forced to be.
void abstract_machine::state::assign_time(int from, int to) {
  rank_state &sender = of(from), &receiver = of(to);
  transfer& out = sender.sends[sender.send_head];
  transfer& in = receiver.recvs[static_cast<std::size_t>(out.peer_index)];
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

void abstract_machine::state::assign_times(int rank) {
  // A message that gets its time unblocks the next one of its sender, and another sender's message
  // to the same receiver.
  std::vector<int>& open = untimed_;
  open.assign(1, rank);
  while (!open.empty()) {
    const int from = open.back();
    rank_state& sender = of(from);
    if (!sender.open || sender.send_head == sender.sends.size() || !sender.sends[sender.send_head].matched) {
      open.pop_back();
      continue;
    }
    const transfer& out = sender.sends[sender.send_head];
    const int to = out.peer;
    rank_state& receiver = of(to);
    if (static_cast<std::size_t>(out.peer_index) != receiver.recv_head) {
      open.pop_back();
      continue;
    }
    assign_time(from, to);
    if (receiver.recv_head < receiver.recvs.size()) open.push_back(receiver.recvs[receiver.recv_head].peer);
    mark_if_complete(from);
    mark_if_complete(to);
  }
}

bool abstract_machine::state::overtake_one_message() {
  int from = -1;
  std::int64_t earliest = 0;
  for (int r = 0; r < call_->ranks; ++r) {
    const rank_state& sender = of(r);
    if (!sender.open || sender.send_head == sender.sends.size() || !sender.sends[sender.send_head].matched)
      continue;
    const std::int64_t time = std::max(sender.send_free, of(sender.sends[sender.send_head].peer).recv_free);
    if (from >= 0 && time >= earliest) continue;
    from = r;
    earliest = time;
  }
  if (from < 0) return false;
  const int to = of(from).sends[of(from).send_head].peer;
  assign_time(from, to);
  mark_if_complete(from);
  mark_if_complete(to);
  if (of(to).recv_head < of(to).recvs.size()) assign_times(of(to).recvs[of(to).recv_head].peer);
  assign_times(from);
  return true;
}

}  // namespace tutti::proof

// SPDX-License-Identifier: Apache-2.0
//
// A transfer sends the contents of a data handle from one rank to another. Both ranks insert it at
// the same point of their task graphs and count the transfers of each handle and pair of ranks.
// This sequence number identifies the message, which may arrive before its receive is inserted.
#include "frontends/tasks/transfer_table.hpp"

#include <cstddef>
#include <utility>

namespace tutti::tasks {

void transfer_table::send(data_handle& d, int to) {
  const std::uint32_t sequence = d.peer(to).sent++;
  // One send node serves all readers of one version.
  if (auto* const pending = static_cast<send_node*>(d.pending_send.get());
      pending != nullptr && pending->can_add(to))
    return pending->add(to, sequence);
  if (d.local_version == nullptr) replicas_.make_contents(d, true);
  auto& node = services_.ready.make<send_node>(services_, d, *d.local_version);
  node.add(to, sequence);
  replicas_.read_local(d, node);
  d.pending_send = node_ref(&node);
  services_.ready.release(node);
}

void transfer_table::receive(data_handle& d, int from) {
  const std::uint32_t sequence = d.peer(from).received++;
  contents& into = replicas_.replace_local(d);
  auto& node = services_.ready.make<receive_node>(services_, d, into, from, sequence);
  if (d.in_place) replicas_.wait_for_users(d, node);
  replicas_.set_writer(d, node);
  d.readable = true;
  add_expected(node);
  for (auto it = d.unexpected.begin(); it != d.unexpected.end(); ++it)
    if ((*it)->header.origin == from && (*it)->header.sequence == sequence) {
      std::unique_ptr<arrival> message = std::move(*it);
      d.unexpected.erase(it);
      deliver(node, std::move(message));
      break;
    }
  services_.ready.release(node);
}

void transfer_table::add_expected(receive_node& receive) {
  receive.data().expected.push_back(&receive);
  receive.index = expected_.size();
  expected_.push_back(&receive);
}

void transfer_table::remove_expected(receive_node& receive) {
  std::erase(receive.data().expected, &receive);
  expected_.back()->index = receive.index;
  expected_[receive.index] = expected_.back();
  expected_.pop_back();
}

void transfer_table::deliver(receive_node& to, std::unique_ptr<arrival> message) {
  remove_expected(to);
  to.arrived(std::move(message));
}

receive_node* transfer_table::find_receive(const arrival& message) const noexcept {
  if (const data_handle* const d = data_.find(message.header.id))
    for (receive_node* receive : d->expected)
      if (receive->origin() == message.header.origin && receive->sequence() == message.header.sequence)
        return receive;
  return nullptr;
}

void transfer_table::handle_contents(std::unique_ptr<arrival> message) {
  if (!message->forward_to.empty()) forward(*message);
  if (receive_node* const receive = find_receive(*message)) return deliver(*receive, std::move(message));
  if (data_handle* const d = data_.find(message->header.id))
    d->unexpected.push_back(std::move(message));
  else
    data_.store_unmatched(std::move(message));
}

void transfer_table::forward(arrival& message) {
  const std::vector<forwarding> forward_to = std::exchange(message.forward_to, {});
  contents local;
  local.memory = message.memory;
  local.data = message.memory->data();
  services_.sender.send(message.header, local, message.header.bytes, forward_to.data(), forward_to.size(),
                        nullptr);
}

}  // namespace tutti::tasks

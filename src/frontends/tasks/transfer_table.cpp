// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/transfer_table.hpp"

#include <cstddef>
#include <utility>

namespace tutti::tasks {

void transfer_table::send(data_handle& d, int to) {
  const std::uint32_t sequence = d.peer(to).sent++;
  if (auto* const under_way = static_cast<send_node*>(d.pending_send.get());
      under_way != nullptr && under_way->can_add(to))
    return under_way->add(to, sequence);
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
  for (auto a = d.unexpected.begin(); a != d.unexpected.end(); ++a)
    if ((*a)->header.origin == from && (*a)->header.sequence == sequence) {
      std::unique_ptr<arrival> message = std::move(*a);
      d.unexpected.erase(a);
      deliver(node, std::move(message));
      break;
    }
  services_.ready.release(node);
}

void transfer_table::add_expected(receive_node& one) {
  one.data().expected.push_back(&one);
  one.index = expected_.size();
  expected_.push_back(&one);
}

void transfer_table::remove_expected(receive_node& one) {
  std::erase(one.data().expected, &one);
  expected_.back()->index = one.index;
  expected_[one.index] = expected_.back();
  expected_.pop_back();
}

void transfer_table::deliver(receive_node& to, std::unique_ptr<arrival> a) {
  remove_expected(to);
  to.arrived(std::move(a));
}

receive_node* transfer_table::find_receive(const arrival& a) const noexcept {
  if (const data_handle* const d = data_.find(a.header.id))
    for (receive_node* one : d->expected)
      if (one->origin() == a.header.origin && one->sequence() == a.header.sequence) return one;
  return nullptr;
}

void transfer_table::handle_contents(std::unique_ptr<arrival> a) {
  if (!a->forward_to.empty()) forward(*a);
  if (receive_node* const one = find_receive(*a)) return deliver(*one, std::move(a));
  if (data_handle* const d = data_.find(a->header.id))
    d->unexpected.push_back(std::move(a));
  else
    data_.store_unmatched(std::move(a));
}

void transfer_table::forward(arrival& a) {
  const std::vector<forwarding> forward_to = std::exchange(a.forward_to, {});
  contents here;
  here.memory = a.memory;
  here.data = a.memory->data();
  services_.sender.send(a.header, here, a.header.bytes, forward_to.data(), forward_to.size(), nullptr);
}

}  // namespace tutti::tasks

// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/transfer_table.hpp"

#include <cstddef>
#include <utility>

namespace tutti::tasks {

void transfer_table::send(data_handle& d, int to) {
  const std::uint32_t sequence = d.with(to).sent++;
  if (auto* const under_way = static_cast<send_node*>(d.sending.get());
      under_way != nullptr && under_way->takes(to))
    return under_way->add(to, sequence);
  if (d.here == nullptr) replicas_.make_contents(d, true);
  auto& node = with_.ready.make<send_node>(with_, d, *d.here);
  node.add(to, sequence);
  replicas_.read_here(d, node);
  d.sending = node_ref(&node);
  with_.ready.release(node);
}

void transfer_table::receive(data_handle& d, int from) {
  const std::uint32_t sequence = d.with(from).received++;
  contents& into = replicas_.replace_here(d);
  auto& node = with_.ready.make<receive_node>(with_, d, into, from, sequence);
  if (d.fixed) replicas_.wait_for_users(d, node);
  replicas_.set_writer(d, node);
  d.readable = true;
  expect(node);
  for (auto a = d.early.begin(); a != d.early.end(); ++a)
    if ((*a)->what.origin == from && (*a)->what.sequence == sequence) {
      std::unique_ptr<arrival> message = std::move(*a);
      d.early.erase(a);
      deliver(node, std::move(message));
      break;
    }
  with_.ready.release(node);
}

void transfer_table::expect(receive_node& one) {
  one.of().expected.push_back(&one);
  one.index = expected_.size();
  expected_.push_back(&one);
}

void transfer_table::forget(receive_node& one) {
  std::erase(one.of().expected, &one);
  expected_.back()->index = one.index;
  expected_[one.index] = expected_.back();
  expected_.pop_back();
}

void transfer_table::deliver(receive_node& to, std::unique_ptr<arrival> a) {
  forget(to);
  to.arrived(std::move(a));
}

receive_node* transfer_table::receive_for(const arrival& a) const noexcept {
  if (const data_handle* const d = data_.find(a.what.id))
    for (receive_node* one : d->expected)
      if (one->origin() == a.what.origin && one->sequence() == a.what.sequence) return one;
  return nullptr;
}

void transfer_table::handle_contents(std::unique_ptr<arrival> a) {
  if (!a->further.empty()) forward(*a);
  if (receive_node* const one = receive_for(*a)) return deliver(*one, std::move(a));
  if (data_handle* const d = data_.find(a->what.id))
    d->early.push_back(std::move(a));
  else
    data_.keep(std::move(a));
}

void transfer_table::forward(arrival& a) {
  const std::vector<forwarding> further = std::exchange(a.further, {});
  contents here;
  here.in = a.in;
  here.data = a.in->data();
  with_.sender.send(a.what, here, a.what.bytes, further.data(), further.size(), nullptr);
}

}  // namespace tutti::tasks

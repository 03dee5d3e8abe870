// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/shared_node.hpp"

#include <algorithm>

namespace tutti::shm {

node::node(std::vector<int> worker_of, waker& w) : worker_of_(std::move(worker_of)), waker_(w) {
  const auto ranks = worker_of_.size();
  workers_ = *std::max_element(worker_of_.begin(), worker_of_.end()) + 1;
  rank_wakeups_.reset(new wakeup_flag[ranks]);
  worker_wakeups_.reset(new wakeup_flag[static_cast<std::size_t>(workers_)]);
  pools_.reset(new message_pool[ranks]);
  inboxes_.reset(new inbox[ranks]);
}

channel& node::between(int from, int to) {
  inbox& box = inboxes_[static_cast<std::size_t>(to)];
  const std::lock_guard guard(box.lock);
  auto& made = box.from[from];
  if (!made) {
    const int a = worker_of(from), b = worker_of(to);
    made = a == b ? std::make_unique<channel>(from, to, rank_wakeup(from), rank_wakeup(to), waker_, true)
                  : std::make_unique<channel>(from, to, worker_wakeup(a), worker_wakeup(b), waker_, false);
  }
  return *made;
}

std::shared_ptr<p2p_queue> node::p2p_queue_of(std::uint64_t context, int rank) {
  inbox& box = inboxes_[static_cast<std::size_t>(rank)];
  const std::lock_guard guard(box.lock);
  auto& made = box.p2p[context];
  if (!made) made = std::make_shared<p2p_queue>();
  return made;
}

void node::close_p2p_queue(std::uint64_t context, int rank) noexcept {
  inbox& box = inboxes_[static_cast<std::size_t>(rank)];
  std::shared_ptr<p2p_queue> last;  // destroyed after the lock is released
  const std::lock_guard guard(box.lock);
  if (const auto found = box.p2p.find(context); found != box.p2p.end()) {
    last = std::move(found->second);
    box.p2p.erase(found);
  }
}

std::uint64_t node::enter_group(const group_name& name) {
  const std::lock_guard guard(groups_lock_);
  const auto [found, added] = groups_.try_emplace(name);
  if (added) found->second.id = next_group_++;
  return found->second.id;
}

void node::leave_group(const group_name& name, int size) noexcept {
  const std::lock_guard guard(groups_lock_);
  const auto found = groups_.find(name);
  if (found != groups_.end() && ++found->second.left == size) groups_.erase(found);
}

std::shared_ptr<direct_collectives> node::direct_collectives_of(std::uint64_t context, const group& members) {
  const std::lock_guard guard(direct_collectives_lock_);
  auto& entry = direct_collectives_[{context, members.address(0)}];
  auto found = entry.lock();
  if (!found) {
    std::vector<direct_collectives::member> group_members(static_cast<std::size_t>(members.size()));
    for (int r = 0; r < members.size(); ++r) {
      const int worker = worker_of(members.address(r));
      group_members[static_cast<std::size_t>(r)] = {worker, &worker_wakeup(worker)};
    }
    found = std::make_shared<direct_collectives>(group_members, waker_);
    entry = found;
  }
  return found;
}

void node::leave_direct_collectives(std::uint64_t context, const group& members,
                                    std::shared_ptr<direct_collectives> mine) noexcept {
  const std::lock_guard guard(direct_collectives_lock_);
  mine.reset();
  const auto entry = direct_collectives_.find({context, members.address(0)});
  if (entry != direct_collectives_.end() && entry->second.expired()) direct_collectives_.erase(entry);
}

}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
#include "fabric/node.hpp"

#include <algorithm>

namespace tutti::fabric {

node::node(std::vector<int> worker_of, ringer& rings) : worker_of_(std::move(worker_of)), rings_(rings) {
  const auto ranks = worker_of_.size();
  workers_ = *std::max_element(worker_of_.begin(), worker_of_.end()) + 1;
  rank_bells_.reset(new doorbell[ranks]);
  worker_bells_.reset(new doorbell[static_cast<std::size_t>(workers_)]);
  letters_.reset(new letter_store[ranks]);
  inboxes_.reset(new inbox[ranks]);
}

channel& node::between(int from, int to) {
  inbox& box = inboxes_[static_cast<std::size_t>(to)];
  const std::lock_guard guard(box.lock);
  auto& made = box.from[from];
  if (!made) {
    const int a = worker_of(from), b = worker_of(to);
    made = a == b ? std::make_unique<channel>(from, to, rank_bell(from), rank_bell(to), rings_, true)
                  : std::make_unique<channel>(from, to, worker_bell(a), worker_bell(b), rings_, false);
  }
  return *made;
}

std::shared_ptr<postbox> node::postbox_of(std::uint64_t context, int rank) {
  inbox& box = inboxes_[static_cast<std::size_t>(rank)];
  const std::lock_guard guard(box.lock);
  auto& made = box.mail[context];
  if (!made) made = std::make_shared<postbox>();
  return made;
}

void node::close_postbox(std::uint64_t context, int rank) noexcept {
  inbox& box = inboxes_[static_cast<std::size_t>(rank)];
  std::shared_ptr<postbox> last;  // goes without the lock
  const std::lock_guard guard(box.lock);
  if (const auto found = box.mail.find(context); found != box.mail.end()) {
    last = std::move(found->second);
    box.mail.erase(found);
  }
}

std::uint64_t node::enter_group(const group_name& name) {
  const std::lock_guard guard(groups_lock_);
  const auto [found, added] = groups_.try_emplace(name);
  if (added) found->second.number = next_group_++;
  return found->second.number;
}

void node::leave_group(const group_name& name, int size) noexcept {
  const std::lock_guard guard(groups_lock_);
  const auto found = groups_.find(name);
  if (found != groups_.end() && ++found->second.left == size) groups_.erase(found);
}

std::shared_ptr<team> node::team_of(std::uint64_t context, const group& members) {
  const std::lock_guard guard(teams_lock_);
  auto& known = teams_[{context, members.address(0)}];
  auto found = known.lock();
  if (!found) {
    std::vector<team::member> seats(static_cast<std::size_t>(members.size()));
    for (int r = 0; r < members.size(); ++r) {
      const int worker = worker_of(members.address(r));
      seats[static_cast<std::size_t>(r)] = {worker, &worker_bell(worker)};
    }
    found = std::make_shared<team>(seats, rings_);
    known = found;
  }
  return found;
}

void node::leave_team(std::uint64_t context, const group& members, std::shared_ptr<team> mine) noexcept {
  const std::lock_guard guard(teams_lock_);
  mine.reset();
  const auto known = teams_.find({context, members.address(0)});
  if (known != teams_.end() && known->second.expired()) teams_.erase(known);
}

}  // namespace tutti::fabric

// SPDX-License-Identifier: Apache-2.0
#include "communicator/peer_rejections.hpp"

#include <algorithm>
#include <utility>

namespace tutti::detail {

void peer_rejections::deliver(const rejection& what) noexcept {
  const std::lock_guard guard(lock_);
  if (std::any_of(ignored_.begin(), ignored_.end(), [&](const call_name& c) { return concerns(what, c); }))
    return;
  try {
    arrived_.push_back(what);
  } catch (...) {
    if (!without_memory_) {
      without_memory_.emplace();
      without_memory_->rank = what.rank;
    }
  }
  set_word();
}

void peer_rejections::reject(std::uint64_t context, std::uint32_t call) {
  const std::lock_guard guard(lock_);
  const call_name mine{context, call};
  ignore(mine);
  std::erase_if(arrived_, [&](const rejection& r) { return concerns(r, mine); });
  restore_if_empty();
}

void peer_rejections::group_made(std::uint64_t context) {
  const std::lock_guard guard(lock_);
  for (auto one = of_other_groups_.begin(); one != of_other_groups_.end();) {
    if (one->context != context) {
      ++one;
      continue;
    }
    arrived_.push_back(*one);  // if it throws, nothing is lost
    one = of_other_groups_.erase(one);
    set_word();
  }
}

// A job of many groups may reject often. A member makes its group soon after the others, so the
// oldest entries are those of groups that this rank is not in.
bool peer_rejections::keep_of_other_group(rejection& one) noexcept {
  try {
    if (of_other_groups_.size() == max_of_other_groups) of_other_groups_.erase(of_other_groups_.begin());
    of_other_groups_.push_back(std::move(one));
    return true;
  } catch (...) {
    return false;
  }
}

// A run that has ended keeps its word.
void peer_rejections::set_word() noexcept {
  const shm::rank_identity* expected = runner_;
  running_thread_.compare_exchange_strong(expected, &shm::rejecting_identity, std::memory_order_relaxed);
}

void peer_rejections::restore_if_empty() noexcept {
  if (!arrived_.empty() || without_memory_) return;
  const shm::rank_identity* expected = &shm::rejecting_identity;
  running_thread_.compare_exchange_strong(expected, runner_, std::memory_order_relaxed);
}

}  // namespace tutti::detail

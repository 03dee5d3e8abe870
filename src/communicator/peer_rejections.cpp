// SPDX-License-Identifier: Apache-2.0
#include "communicator/peer_rejections.hpp"

#include <algorithm>

namespace tutti::detail {

void peer_rejections::deliver(const rejection& what) noexcept {
  const std::lock_guard guard(lock_);
  if (std::any_of(rejected_.begin(), rejected_.end(), [&](const own_call& c) { return concerns(what, c); }))
    return;
  try {
    arrived_.push_back(what);
  } catch (...) {
    return;
  }
  // A run that has ended keeps its word.
  const shm::rank_identity* expected = carrier_;
  running_thread_.compare_exchange_strong(expected, &shm::rejecting_identity, std::memory_order_relaxed);
}

void peer_rejections::reject(std::uint64_t context, std::uint32_t call) {
  const std::lock_guard guard(lock_);
  const own_call mine{context, call};
  rejected_[next_++ % rejected_.size()] = mine;
  std::erase_if(arrived_, [&](const rejection& r) { return concerns(r, mine); });
  restore_if_empty();
}

void peer_rejections::restore_if_empty() noexcept {
  if (!arrived_.empty()) return;
  const shm::rank_identity* expected = &shm::rejecting_identity;
  running_thread_.compare_exchange_strong(expected, carrier_, std::memory_order_relaxed);
}

}  // namespace tutti::detail

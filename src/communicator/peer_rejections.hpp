// SPDX-License-Identifier: Apache-2.0
//
// The rejections that other ranks have sent to this rank (transport/rejection.hpp). A rejection is
// due when this rank has begun the call that it concerns; this rank's next call then throws.
//
// A call without rejections pays nothing. Each call compares one word, which names the thread that
// runs the rank. While there are rejections, the word is `shm::rejecting_identity`, so the calls
// take the slow path (communicator_state::validate_entry_slow_path).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/rejection.hpp"
#include "transport/shm/current_rank.hpp"

namespace tutti::detail {

class peer_rejections final : public rejection_inbox {
 public:
  using word = std::atomic<const shm::rank_identity*>;
  explicit peer_rejections(word& running_thread) noexcept : running_thread_(running_thread) {}
  peer_rejections(const peer_rejections&) = delete;
  peer_rejections& operator=(const peer_rejections&) = delete;

  /// The value of the word while there is no rejection. Before the first rejection can arrive.
  void carried_by(const shm::rank_identity* one) noexcept {
    carrier_ = one;
    running_thread_.store(one, std::memory_order_relaxed);
  }
  const shm::rank_identity* carrier() const noexcept { return carrier_; }

  void deliver(const rejection& what) noexcept override;
  /// This rank rejects that call itself, so it ignores the rejections of others for the same call.
  void reject(std::uint64_t context, std::uint32_t call);
  /// A communicator of this rank ends. The rejections of calls that it has begun remain due, the
  /// others are dropped. `begun(call)`: whether it has begun the call.
  template <class Begun>
  void end_context(std::uint64_t context, const Begun& begun);
  /// Removes all rejections that are due, and returns the first. `begun(context, call)`: whether
  /// this rank has begun the call.
  template <class Begun>
  std::optional<rejection> take_due(const Begun& begun);

 private:
  struct own_call {
    std::uint64_t context;
    std::uint32_t call;
  };
  static bool concerns(const rejection& r, const own_call& c) noexcept {
    return r.context == c.context && r.call == c.call;
  }
  void restore_if_empty() noexcept;  // under the lock
  bool is_empty() const noexcept {
    return running_thread_.load(std::memory_order_relaxed) != &shm::rejecting_identity;
  }
  // In place of the context of a communicator that has ended.
  static constexpr std::uint64_t always_due = ~std::uint64_t{0};

  word& running_thread_;
  const shm::rank_identity* carrier_ = nullptr;
  std::mutex lock_;
  std::vector<rejection> arrived_;
  // The last calls that this rank rejected. Rejections of others for them arrive about when the
  // call of this rank is over, so few are enough.
  std::array<own_call, 64> rejected_{};
  std::size_t next_ = 0;
};

template <class Begun>
void peer_rejections::end_context(std::uint64_t context, const Begun& begun) {
  if (is_empty()) [[likely]]
    return;
  const std::lock_guard guard(lock_);
  std::erase_if(arrived_, [&](rejection& r) {
    if (r.context != context) return false;
    if (!begun(r.call)) return true;
    r.context = always_due;
    return false;
  });
  restore_if_empty();
}

template <class Begun>
std::optional<rejection> peer_rejections::take_due(const Begun& begun) {
  if (is_empty()) return {};
  const std::lock_guard guard(lock_);
  std::optional<rejection> first;
  std::erase_if(arrived_, [&](rejection& r) {
    if (r.context != always_due && !begun(r.context, r.call)) return false;
    if (!first) first = std::move(r);
    return true;
  });
  restore_if_empty();
  return first;
}

}  // namespace tutti::detail

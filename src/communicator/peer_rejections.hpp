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
#include <utility>
#include <vector>

#include "transport/rejection.hpp"
#include "transport/shm/current_rank.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

/// The peer_error of a rejection that is due. The call that throws it has done nothing, so it can
/// be repeated: a request still holds its call.
class rejection_due final : public peer_error {
 public:
  using peer_error::peer_error;
};

/// The meaning of a rejection for this rank now.
enum class rejection_state {
  later,       ///< it has not begun the call
  due,         ///< it has begun the call, and received zeros
  other_rank,  ///< its result does not depend on the zeros
  other_group  ///< it is not in the group, or has not made it yet
};

class peer_rejections final : public rejection_inbox {
 public:
  using word = std::atomic<const shm::rank_identity*>;
  explicit peer_rejections(word& running_thread) noexcept : running_thread_(running_thread) {}
  peer_rejections(const peer_rejections&) = delete;
  peer_rejections& operator=(const peer_rejections&) = delete;

  /// The value of the word while there is no rejection. Before the first rejection can arrive.
  void run_by(const shm::rank_identity* one) noexcept {
    runner_ = one;
    running_thread_.store(one, std::memory_order_relaxed);
  }
  const shm::rank_identity* runner() const noexcept { return runner_; }

  void deliver(const rejection& what) noexcept override;
  /// This rank rejects that call itself, so it ignores the rejections of others for the same call.
  void reject(std::uint64_t context, std::uint32_t call);
  /// A communicator of this rank ends. Its rejections that are due remain, the others are dropped.
  /// `state_of(rejection)` returns a rejection_state.
  template <class State>
  void end_context(std::uint64_t context, const State& state_of);
  /// Removes all rejections that are due, and returns the first.
  template <class State>
  std::optional<rejection> take_due(const State& state_of);
  /// This rank has made a group of which it does not know all members. The rejections that arrived
  /// before count from here on. Only rejections `to_whole_job` arrive before their group.
  void note_group(std::uint64_t context) {
    if (!of_other_groups_.empty()) [[unlikely]]
      group_made(context);
  }

 private:
  struct call_name {
    std::uint64_t context;
    std::uint32_t call;
  };
  static bool concerns(const rejection& r, const call_name& c) noexcept {
    return r.context == c.context && r.call == c.call;
  }
  void group_made(std::uint64_t context);
  // These four under the lock:
  void ignore(const call_name& c) noexcept { ignored_[next_++ % ignored_.size()] = c; }
  bool keep_of_other_group(rejection& one) noexcept;
  void set_word() noexcept;
  void restore_if_empty() noexcept;

  bool is_empty() const noexcept {
    return running_thread_.load(std::memory_order_relaxed) != &shm::rejecting_identity;
  }
  // In place of the context of a communicator that has ended.
  static constexpr std::uint64_t always_due = ~std::uint64_t{0};
  static constexpr std::size_t max_of_other_groups = 256;

  word& running_thread_;
  const shm::rank_identity* runner_ = nullptr;
  std::mutex lock_;
  std::vector<rejection> arrived_;
  // One that there was no memory for, without its text. It is due at once, as are those that it
  // replaces.
  std::optional<rejection> without_memory_;
  std::vector<rejection> of_other_groups_;  // only the rank's own thread changes it
  // The last calls that this rank rejected, or whose rejection it has thrown. Rejections of others
  // for them arrive about when the call of this rank is over, so few are enough.
  std::array<call_name, 64> ignored_{};
  std::size_t next_ = 0;
};

template <class State>
void peer_rejections::end_context(std::uint64_t context, const State& state_of) {
  if (is_empty()) [[likely]]
    return;
  const std::lock_guard guard(lock_);
  std::erase_if(arrived_, [&](rejection& r) {
    if (r.context != context) return false;
    if (state_of(r) != rejection_state::due) return true;
    r.context = always_due;
    return false;
  });
  restore_if_empty();
}

template <class State>
std::optional<rejection> peer_rejections::take_due(const State& state_of) {
  if (is_empty()) return {};
  const std::lock_guard guard(lock_);
  std::optional<rejection> first = std::exchange(without_memory_, std::nullopt);
  std::erase_if(arrived_, [&](rejection& r) {
    switch (r.context == always_due ? rejection_state::due : state_of(r)) {
      case rejection_state::later:
        return false;
      case rejection_state::due:
        ignore({r.context, r.call});
        if (!first) first = std::move(r);
        return true;
      case rejection_state::other_rank:
        return true;
      case rejection_state::other_group:
        return keep_of_other_group(r);
    }
    return false;
  });
  restore_if_empty();
  return first;
}

}  // namespace tutti::detail

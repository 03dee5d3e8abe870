// SPDX-License-Identifier: Apache-2.0
//
// Mail between ranks that share memory: letters, the postbox in which those to one rank of one communicator
// wait, in the order in which they were posted, and where a rank's used letters come back to.
//
// Many post, one empties: posting is one exchange of the newest letter, emptying takes all of them and turns
// their order round. Letters are used again; whoever has read one gives it back without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/shm/unexpected_message.hpp"

namespace tutti::shm {

class message_pool;

/// A message on its way. Its contents stand behind it, or in the sender's memory.
struct queued_message final : unexpected_message {
  queued_message* next = nullptr;  // older, in the postbox; of a store, the next unused one
  const std::byte* contents = nullptr;
  std::atomic<std::uint32_t>* done = nullptr;  // becomes 1 when it is received; null: nobody waits for that
  message_pool* home = nullptr;
  std::uint32_t size_class = 0;

  std::byte* own_place() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

/// The letters that one rank sends. take() is the owner's; give_back() is anybody's.
class message_pool {
 public:
  static constexpr std::size_t max_bytes = 4096;  ///< that are kept for use again

  message_pool() = default;
  ~message_pool();
  message_pool(const message_pool&) = delete;
  message_pool& operator=(const message_pool&) = delete;

  /// A letter with room for so many bytes behind it. Allocates where none of its size has come back.
  queued_message* take(std::size_t bytes);
  static void give_back(queued_message* used) noexcept;

 private:
  static constexpr std::array<std::size_t, 3> classes = {64, 512, max_bytes};
  static constexpr std::uint32_t single_use = classes.size();

  static queued_message* make_single(std::size_t bytes);
  queued_message* make(std::size_t size_class);

  std::array<queued_message*, classes.size()> unused_{};                             // the owner's
  std::vector<std::byte*> made_;                                                     // the owner's
  alignas(64) std::array<std::atomic<queued_message*>, classes.size()> returned_{};  // anybody's
};

class p2p_queue {
 public:
  p2p_queue() = default;
  ~p2p_queue();  // what nobody received goes back to its senders
  p2p_queue(const p2p_queue&) = delete;
  p2p_queue& operator=(const p2p_queue&) = delete;

  /// Anybody's. The letter is the receiver's then. Whoever posts rings the receiver's bell afterwards.
  void post(queued_message* one) noexcept {
    queued_message* newest = newest_.load(std::memory_order_relaxed);
    do {
      one->next = newest;
    } while (
        !newest_.compare_exchange_weak(newest, one, std::memory_order_release, std::memory_order_relaxed));
    posted_.fetch_add(1, std::memory_order_release);
  }

  // --- the receiver's
  /// The oldest; null where there is none.
  queued_message* next() noexcept {
    if (oldest_ == nullptr && !turn_round()) return nullptr;
    queued_message* const one = oldest_;
    oldest_ = one->next;
    ++taken_;
    return one;
  }
  /// What to wait for when there is none: `posted` reaches this value.
  const std::atomic<std::uint32_t>& arrival_word() const noexcept { return posted_; }
  std::uint32_t arrival_value() const noexcept { return taken_ + 1; }

 private:
  bool turn_round() noexcept;

  alignas(64) std::atomic<queued_message*> newest_{nullptr};
  // Raised after the letter is there, so it may be behind what the receiver has seen, but never for long.
  std::atomic<std::uint32_t> posted_{0};
  alignas(64) queued_message* oldest_ = nullptr;
  std::uint32_t taken_ = 0;
};

}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
//
// Point-to-point messages between ranks that share memory: the queue of one rank on one
// communicator, and the pool of messages that one rank sends.
//
// Many ranks post and one receives. A post exchanges the pointer to the newest message. The
// receiver takes the whole list and reverses it, so messages come out in the order in which they
// were posted. Messages are reused; a reader returns them to their pool without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/shm/unexpected_message.hpp"

namespace tutti::shm {

class message_pool;

/// A message in progress. Its contents follow it, or stay in the sender's memory.
struct queued_message final : unexpected_message {
  queued_message* next = nullptr;  // in a queue: the next older one; in a pool: the next unused one
  const std::byte* contents = nullptr;
  // Becomes 1 when the message is received; null: no sender waits.
  std::atomic<std::uint32_t>* done = nullptr;
  message_pool* pool = nullptr;
  std::uint32_t size_class = 0;

  std::byte* inline_contents() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
};

/// The messages that one rank sends. Only the owner calls acquire(); any thread may call release().
class message_pool {
 public:
  /// The largest contents of messages that are reused.
  static constexpr std::size_t max_bytes = 4096;

  message_pool() = default;
  ~message_pool();
  message_pool(const message_pool&) = delete;
  message_pool& operator=(const message_pool&) = delete;

  /// A message with space for `bytes` bytes behind it. Allocates if no message of its size class is
  /// free.
  queued_message* acquire(std::size_t bytes);
  static void release(queued_message* used) noexcept;

 private:
  static constexpr std::array<std::size_t, 3> classes = {64, 512, max_bytes};
  static constexpr std::uint32_t single_use = classes.size();

  static queued_message* make_single(std::size_t bytes);
  queued_message* make(std::size_t size_class);

  // Used by the owner only.
  std::array<queued_message*, classes.size()> unused_{};
  // Used by the owner only.
  std::vector<std::byte*> allocated_;
  // Used by any thread.
  alignas(64) std::array<std::atomic<queued_message*>, classes.size()> returned_{};
};

class p2p_queue {
 public:
  p2p_queue() = default;
  ~p2p_queue();  // returns unreceived messages to their pools
  p2p_queue(const p2p_queue&) = delete;
  p2p_queue& operator=(const p2p_queue&) = delete;

  /// Any thread may call it. The receiver owns the message then. The caller wakes the receiver
  /// afterwards.
  void post(queued_message* one) noexcept {
    queued_message* newest = newest_.load(std::memory_order_relaxed);
    do {
      one->next = newest;
    } while (
        !newest_.compare_exchange_weak(newest, one, std::memory_order_release, std::memory_order_relaxed));
    posted_.fetch_add(1, std::memory_order_release);
  }

  // --- for the receiver only
  /// The oldest message; null if there is none.
  queued_message* next() noexcept {
    if (oldest_ == nullptr && !collect_posted()) return nullptr;
    queued_message* const one = oldest_;
    oldest_ = one->next;
    ++consumed_;
    return one;
  }
  /// If there is none, the receiver waits until published_word() reaches published_value().
  const std::atomic<std::uint32_t>& published_word() const noexcept { return posted_; }
  std::uint32_t published_value() const noexcept { return consumed_ + 1; }

 private:
  bool collect_posted() noexcept;

  alignas(64) std::atomic<queued_message*> newest_{nullptr};
  // Incremented after the message is in the list. So it may briefly lag behind consumed_.
  std::atomic<std::uint32_t> posted_{0};
  alignas(64) queued_message* oldest_ = nullptr;
  std::uint32_t consumed_ = 0;
};

}  // namespace tutti::shm

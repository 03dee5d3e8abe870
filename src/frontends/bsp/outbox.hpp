// SPDX-License-Identifier: Apache-2.0
//
// The messages that one process has scheduled in a superstep. Two outboxes take turns, because with
// shared memory the targets read an outbox in place. The outbox of superstep n is read until all
// processes have entered sync n + 1. So it may be filled again in superstep n + 2.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>

#include "tutti/detail/bsp_abi.hpp"

namespace tutti::bsp {

enum class direction : std::uint8_t { put, get };

/// A put or a get; one cache line.
struct alignas(64) message {
  const std::byte* reads;  ///< of a put: its bytes, which the target reads from the sync on
  union {
    std::byte* writes;  ///< of a get: its target
    message* below;     ///< of the first put of a run: the next run in its target's inbox
  };
  std::size_t bytes;
  slot far_slot;
  std::size_t far_offset;
  message* next;        ///< the next put of the run, which has the same target
  std::byte inside[8];  ///< the bytes of a small put
  std::int32_t peer;
  std::int32_t origin_and_way;

  direction way() const noexcept { return origin_and_way < 0 ? direction::get : direction::put; }
  int origin() const noexcept { return origin_and_way & 0x7fffffff; }
  void come_from(int origin, direction way) noexcept {
    origin_and_way = way == direction::get ? static_cast<std::int32_t>(origin | INT32_MIN) : origin;
  }
};
static_assert(sizeof(message) == 64);

class outbox {
 public:
  struct release {
    void operator()(message* m) const noexcept { ::operator delete (m, std::align_val_t{alignof(message)}); }
  };
  using memory = std::unique_ptr<message, release>;

  /// Allocates the memory that reserve() needs for `messages` messages. Throws std::bad_alloc if
  /// there is not enough memory. Returns null if the present memory suffices.
  memory memory_for(std::size_t messages) const { return messages > capacity_ ? make(messages) : nullptr; }
  /// Sets the capacity from renew() on.
  void reserve(std::size_t messages, memory in) noexcept {
    coming_ = std::move(in);
    coming_allowed_ = messages;
  }
  /// Empties the outbox. No process may still read it.
  void renew() noexcept {
    size_ = payload_ = 0;
    allowed_ = coming_allowed_;
    if (coming_ == nullptr) return;
    messages_ = std::move(coming_);
    capacity_ = allowed_;
  }
  /// Doubles the capacity at once. Throws std::bad_alloc.
  void grow() {
    const std::size_t more = std::max<std::size_t>(16, 2 * capacity_);
    memory fresh = make(more);
    std::copy(begin(), end(), fresh.get());
    messages_ = std::move(fresh);
    capacity_ = allowed_ = coming_allowed_ = more;
  }

  bool full() const noexcept { return size_ >= allowed_; }
  std::size_t allowed() const noexcept { return allowed_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  message& add() noexcept { return messages_.get()[size_++]; }
  message* begin() noexcept { return messages_.get(); }
  message* end() noexcept { return messages_.get() + size_; }

  static constexpr std::size_t max_copied = 1024;
  /// Room for the bytes of a put; null if they are too many or no room is left.
  std::byte* room(std::size_t bytes) noexcept {
    if (bytes > max_copied || payload_ + bytes > bytes_for_payload) return nullptr;
    std::byte* at = reinterpret_cast<std::byte*>(messages_.get() + capacity_) + payload_;
    payload_ += bytes;
    return at;
  }

 private:
  static constexpr std::size_t bytes_for_payload = 8192;
  static memory make(std::size_t messages) {
    if (messages > (~std::size_t{0} - bytes_for_payload) / sizeof(message)) throw std::bad_alloc();
    return memory(static_cast<message*>(
        ::operator new (messages * sizeof(message) + bytes_for_payload, std::align_val_t{alignof(message)})));
  }

  memory messages_, coming_;
  std::size_t capacity_ = 0, allowed_ = 0, coming_allowed_ = 0, size_ = 0, payload_ = 0;
};

using outboxes = std::array<outbox, 2>;

}  // namespace tutti::bsp

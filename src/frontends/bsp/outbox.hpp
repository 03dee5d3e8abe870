// SPDX-License-Identifier: Apache-2.0
//
// The messages that one process has scheduled in a superstep. Two outboxes take turns, because with
// shared memory the receivers read an outbox in place. The outbox of superstep n is read until all
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

enum class message_kind : std::uint8_t { put, get };

/// A put or a get. It occupies one cache line.
struct alignas(64) message {
  const std::byte* source;  ///< of a put: its bytes, which the receiver reads from the sync on
  union {
    std::byte* target;  ///< of a get: the local memory
    message* next_run;  ///< of the first put of a run: the next run in the receiver's inbox
  };
  std::size_t bytes;
  slot remote_slot;
  std::size_t remote_offset;
  message* next;             ///< the next put of the run, which has the same receiver
  std::byte inline_data[8];  ///< the bytes of a small put
  std::int32_t peer;
  std::int32_t origin_and_kind;

  message_kind kind() const noexcept { return origin_and_kind < 0 ? message_kind::get : message_kind::put; }
  int origin() const noexcept { return origin_and_kind & 0x7fffffff; }
  void set_origin(int origin, message_kind kind) noexcept {
    origin_and_kind = kind == message_kind::get ? static_cast<std::int32_t>(origin | INT32_MIN) : origin;
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
  /// Sets the capacity from reset() on.
  void reserve(std::size_t messages, memory in) noexcept {
    next_messages_ = std::move(in);
    next_allowed_ = messages;
  }
  /// Empties the outbox. No process may still read it.
  void reset() noexcept {
    size_ = payload_used_ = 0;
    allowed_ = next_allowed_;
    if (next_messages_ == nullptr) return;
    messages_ = std::move(next_messages_);
    capacity_ = allowed_;
  }
  /// Doubles the capacity at once. Throws std::bad_alloc.
  void grow() {
    const std::size_t more = std::max<std::size_t>(16, 2 * capacity_);
    memory fresh = make(more);
    std::copy(begin(), end(), fresh.get());
    messages_ = std::move(fresh);
    capacity_ = allowed_ = next_allowed_ = more;
  }

  bool full() const noexcept { return size_ >= allowed_; }
  std::size_t allowed() const noexcept { return allowed_; }
  std::size_t size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  message& add() noexcept { return messages_.get()[size_++]; }
  message* begin() noexcept { return messages_.get(); }
  message* end() noexcept { return messages_.get() + size_; }

  static constexpr std::size_t max_copied = 1024;
  /// Memory for the bytes of a put. Returns null if they are too many or no space remains.
  std::byte* allocate_payload(std::size_t bytes) noexcept {
    if (bytes > max_copied || payload_used_ + bytes > payload_capacity) return nullptr;
    std::byte* at = reinterpret_cast<std::byte*>(messages_.get() + capacity_) + payload_used_;
    payload_used_ += bytes;
    return at;
  }

 private:
  static constexpr std::size_t payload_capacity = 8192;
  static memory make(std::size_t messages) {
    if (messages > (~std::size_t{0} - payload_capacity) / sizeof(message)) throw std::bad_alloc();
    return memory(static_cast<message*>(
        ::operator new (messages * sizeof(message) + payload_capacity, std::align_val_t{alignof(message)})));
  }

  memory messages_, next_messages_;
  std::size_t capacity_ = 0, allowed_ = 0, next_allowed_ = 0, size_ = 0, payload_used_ = 0;
};

using outboxes = std::array<outbox, 2>;

}  // namespace tutti::bsp

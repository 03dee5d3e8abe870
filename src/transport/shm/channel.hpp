// SPDX-License-Identifier: Apache-2.0
//
// A one-way connection between two ranks: a ring of slots of one cache line each.
//
//   up to 48 bytes    travel in the slot itself
//   up to 4 KiB       travel in a cell that belongs to the slot
//   more              use rendezvous: the slot carries the address, and the receiver reads from
//                     there and reports when it is done
//
// Messages carry a tag that names their group and run. The receiver requests a tag. Messages of
// other runs that come first become unexpected. There is one producer and one consumer, and no
// read-modify-write.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "transport/shm/wakeup_flag.hpp"

namespace tutti::shm {

/// A message that has arrived and is not yet consumed.
struct arrival {
  const std::byte* data = nullptr;
  std::size_t bytes = 0;
  std::atomic<std::uint32_t>* done = nullptr;  // rendezvous: the sender waits until it is 1
  // The message is unexpected, and no longer in the ring.
  bool unexpected = false;
  std::size_t unexpected_index = 0;
};

class channel {
 public:
  static constexpr std::uint32_t slot_count = 8;
  static constexpr std::size_t inline_bytes = 48;
  static constexpr std::size_t cell_bytes = 4096;

  /// `same_worker`: both ends run on one thread. So a waiter is woken by the other end and need not
  /// poll.
  channel(int from, int to, wakeup_flag& from_wakeup, wakeup_flag& to_wakeup, waker& w,
          bool same_worker) noexcept
      : from_wakeup_(&from_wakeup),
        to_wakeup_(&to_wakeup),
        waker_(&w),
        from_(from),
        to_(to),
        same_worker_(same_worker) {}
  channel(const channel&) = delete;
  channel& operator=(const channel&) = delete;

  int from() const noexcept { return from_; }
  int to() const noexcept { return to_; }
  bool same_worker() const noexcept { return same_worker_; }

  // --- producer
  bool has_space() noexcept {
    if (sent_ - cached_consumed_ < slot_count) return true;
    cached_consumed_ = consumed_.load(std::memory_order_acquire);
    return sent_ - cached_consumed_ < slot_count;
  }
  /// Without space, the producer waits until consumed_word() reaches consumed_value().
  const std::atomic<std::uint32_t>& consumed_word() const noexcept { return consumed_; }
  std::uint32_t consumed_value() const noexcept { return sent_ - slot_count + 1; }

  static constexpr bool is_rendezvous(std::size_t bytes) noexcept { return bytes > cell_bytes; }

  /// Requires has_space(). For a rendezvous, `done` must be 0. It becomes 1 when the receiver has
  /// read `data`.
  void post(std::uint64_t tag, const void* data, std::size_t bytes, std::atomic<std::uint32_t>* done) {
    if (!is_rendezvous(bytes)) return post_small(tag, data, bytes);
    slot& s = ring_[sent_ % slot_count];
    const remote r{static_cast<const std::byte*>(data), bytes, done};
    s.encoding = by_address;
    std::memcpy(s.payload, &r, sizeof r);
    publish(s, tag);
  }
  /// For at most cell_bytes.
  void post_small(std::uint64_t tag, const void* data, std::size_t bytes) {
    slot& s = ring_[sent_ % slot_count];
    if (bytes <= inline_bytes) {
      s.encoding = static_cast<std::uint32_t>(bytes);
      if (bytes == 8) {
        std::memcpy(s.payload, data, 8);
      } else if (bytes != 0) {
        std::memcpy(s.payload, data, bytes);
      }
    } else {
      s.encoding = static_cast<std::uint32_t>(bytes) | in_cell;
      std::memcpy(cell_of(sent_), data, bytes);
    }
    publish(s, tag);
  }

  // --- consumer
  /// Finds the oldest message with this tag. The data stay valid until consume().
  bool find(std::uint64_t tag, arrival& found) {
    if (unexpected_.empty()) {
      slot& s = ring_[next_ % slot_count];
      if (s.sequence.load(std::memory_order_acquire) != next_ + 1) return false;
      if (s.tag == tag) {
        read(s, next_, found);
        return true;
      }
    }
    return find_beyond_next(tag, found);
  }
  /// The data of the next message, valid until consume_small(). Returns null if it has not arrived,
  /// has another tag or size, or is longer than cell_bytes. It also returns null if there are
  /// unexpected messages; find() then returns the message.
  const std::byte* find_small(std::uint64_t tag, std::size_t bytes) noexcept {
    slot& s = ring_[next_ % slot_count];
    if (s.sequence.load(std::memory_order_acquire) != next_ + 1 || s.tag != tag || !unexpected_.empty())
      return nullptr;
    if (s.encoding == bytes && bytes <= inline_bytes) return s.payload;
    return s.encoding == (static_cast<std::uint32_t>(bytes) | in_cell) ? cell(next_) : nullptr;
  }
  /// Whether a message has arrived that is not consumed.
  bool has_unread() const noexcept {
    return !unexpected_.empty() || published_word().load(std::memory_order_acquire) == published_value();
  }
  void consume_small() noexcept {
    consumed_.store(++next_, std::memory_order_release);
    wake(*from_wakeup_);
  }
  void consume(const arrival& a) noexcept {
    std::atomic<std::uint32_t>* const done = a.done;
    if (a.unexpected) {
      unexpected_.erase(unexpected_.begin() + static_cast<std::ptrdiff_t>(a.unexpected_index));
    } else {
      consumed_.store(++next_, std::memory_order_release);
    }
    if (done != nullptr) done->store(1, std::memory_order_release);
    wake(*from_wakeup_);
  }
  /// After find() found nothing, the consumer waits until published_word() reaches
  /// published_value().
  const std::atomic<std::uint32_t>& published_word() const noexcept {
    return ring_[next_ % slot_count].sequence;
  }
  std::uint32_t published_value() const noexcept { return next_ + 1; }

 private:
  static constexpr std::uint32_t in_cell = 1u << 30, by_address = 1u << 31;

  struct alignas(64) slot {
    std::atomic<std::uint32_t> sequence{0};
    std::uint32_t encoding = 0;
    std::uint64_t tag = 0;
    std::byte payload[inline_bytes];
  };
  struct remote {
    const std::byte* data;
    std::size_t bytes;
    std::atomic<std::uint32_t>* done;
  };
  struct unexpected_entry {
    std::uint64_t tag;
    std::unique_ptr<std::byte[]> copy;  // null: rendezvous
    remote where;
  };

  void wake(wakeup_flag& wakeup) noexcept {
    if (wakeup.armed.load(std::memory_order_relaxed) != 0) waker_->ring(wakeup);
  }
  void publish(slot& s, std::uint64_t tag) noexcept {
    s.tag = tag;
    s.sequence.store(++sent_, std::memory_order_release);
    wake(*to_wakeup_);
  }
  std::byte* cell(std::uint32_t sequence) const noexcept {
    return cells_.get() + (sequence % slot_count) * cell_bytes;
  }
  std::byte* cell_of(std::uint32_t sequence) {
    if (!cells_) cells_.reset(new std::byte[slot_count * cell_bytes]);
    return cell(sequence);
  }
  void read(slot& s, std::uint32_t sequence, arrival& found) noexcept {
    found.unexpected = false;
    found.done = nullptr;
    if (s.encoding <= inline_bytes) {
      found.data = s.payload;
      found.bytes = s.encoding;
    } else if ((s.encoding & by_address) == 0) {
      found.data = cell(sequence);
      found.bytes = s.encoding & ~in_cell;
    } else {
      remote r;
      std::memcpy(&r, s.payload, sizeof r);
      found.data = r.data;
      found.bytes = r.bytes;
      found.done = r.done;
    }
  }
  bool find_beyond_next(std::uint64_t tag, arrival& found);

  // Written by the producer.
  alignas(64) std::uint32_t sent_ = 0;
  std::uint32_t cached_consumed_ = 0;
  std::unique_ptr<std::byte[]> cells_;
  // Written by the consumer.
  alignas(64) std::atomic<std::uint32_t> consumed_{0};
  std::uint32_t next_ = 0;
  // Constant after construction.
  alignas(64) wakeup_flag* from_wakeup_;
  wakeup_flag* to_wakeup_;
  waker* waker_;
  int from_, to_;
  bool same_worker_;
  slot ring_[slot_count];
  std::vector<unexpected_entry> unexpected_;  // written by the consumer
};

}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
//
// A one-way channel between two processes of a node, in memory that they share. process_sender.hpp
// and process_receiver.hpp are its ends, process_messages.hpp holds all ends of a rank.
//
// A channel is a ring of slots of one cache line, written by the sender, and two lines written by
// the receiver. It takes 640 bytes. The messages travel in these ways:
//
//   up to 48 bytes      in the slot itself
//   up to one cell      in a cell of the sender's pool; the slot carries the index of the cell
//   more                in several slots, each with a cell; both sides copy at the same time
//   or, if permitted,   by address: the receiver reads with process_vm_readv and acknowledges
//
// Each line has a single writer. No message needs a read-modify-write or a lock.
//
// Slots. The sender fills a slot and then publishes its sequence number. The receiver consumes the
// slots in order and publishes how many it has consumed. This returns the slots and their cells. So
// the sender alone knows which cells of its pool are free, in private memory.
//
// Cells. All channels of a sender share its pool (cell_pool.hpp), so memory grows linearly with the
// number of ranks. A channel takes a cell only if it holds fewer cells than are free. So no channel
// takes all cells. If a channel cannot take a cell and holds none, it sends a piece of 48 bytes in
// the slot. If it holds one, it waits: the receiver returns that cell before it reaches the new
// message. So a channel makes progress whatever the receivers of other channels do.
//
// Receivers. A receiver matches messages by tag, in the order in which they were sent. A message
// that precedes the wanted one becomes unexpected: the receiver copies it out and frees its slots.
// Only the address of a message by address is kept. A receiver without a request leaves the ring
// as it is. Messages of the program have no request before they are matched. The receiver puts
// them into the queue of their communicator (p2p_arrivals.hpp).
//
// By address. Messages of this kind have a number. The sender has at most 8 that are not
// acknowledged. If the kernel refuses the read, the receiver acknowledges with a refusal, and the
// sender sends the message again through cells. The sender must not change or free the data before
// the acknowledgement.
//
// Sequence numbers and rendezvous numbers have 32 bits and wrap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tutti::shm {

struct process_channel_traits {
  static constexpr std::uint32_t slot_count = 8;  // a power of two
  static constexpr std::size_t inline_bytes = 48;
  static constexpr std::uint32_t rendezvous_count = 8;  // a power of two
  /// Without it, a sender whose pool is empty waits for any cell. The model shows the deadlock.
  static constexpr bool pieces_without_cells = true;
};

struct alignas(64) process_slot {
  std::atomic<std::uint32_t> sequence{0};
  std::uint32_t encoding = 0;
  std::uint64_t tag = 0;
  alignas(8) std::byte payload[48];
};
static_assert(sizeof(process_slot) == 64 && std::atomic<std::uint32_t>::is_always_lock_free);

/// The encoding of a slot: a kind and a number of bytes.
enum slot_encoding : std::uint32_t {
  whole_inline = 0u << 29,   ///< a message in the payload
  whole_in_cell = 1u << 29,  ///< a message in a cell; payload: its index
  first_piece = 2u << 29,    ///< the begin of a longer message; payload: long_message
  piece_inline = 3u << 29,
  piece_in_cell = 4u << 29,
  by_address = 5u << 29,  ///< payload: remote_message
  kind_mask = 7u << 29,
  /// Replaces the message by address whose number is in `tag`.
  is_replacement = 1u << 28,
  bytes_mask = is_replacement - 1,
};
struct long_message {
  std::uint64_t bytes;
  std::uint32_t cell;         // valid if piece_bytes > 0
  std::uint32_t piece_bytes;  // may be 0
};
struct remote_message {
  std::uint64_t address, bytes;
  std::uint32_t number;
};

constexpr std::uint32_t acknowledgement_of(std::uint32_t number, bool refused) noexcept {
  return number << 1 | (refused ? 1u : 0u);
}

/// The shared part of a channel. Memory of zeros is a valid initial state for start number 0.
template <class T = process_channel_traits>
struct process_lines {
  process_slot ring[T::slot_count];
  // Written by the receiver.
  alignas(64) std::atomic<std::uint32_t> consumed{0};
  std::atomic<std::uint32_t> may_read{0};  // the kernel permits messages by address
  // The entry of a message holds acknowledgement_of() its number.
  alignas(64) std::atomic<std::uint32_t> acknowledged[T::rendezvous_count] = {};

  void start_at(std::uint32_t sequence) noexcept {
    for (process_slot& s : ring) s.sequence.store(sequence, std::memory_order_relaxed);
    consumed.store(sequence, std::memory_order_relaxed);
    // As if the messages before had been acknowledged.
    for (std::uint32_t n = sequence; n != sequence - T::rendezvous_count; --n)
      acknowledged[n % T::rendezvous_count].store(acknowledgement_of(n, false), std::memory_order_relaxed);
  }
};
static_assert(sizeof(process_lines<>) == 640);

/// A message that is being sent. It must not move until it is complete.
struct send_request {
  enum class phase : std::uint8_t { idle, queued, started, awaiting, complete };

  std::uint64_t tag = 0;
  const std::byte* data = nullptr;
  std::size_t bytes = 0;

  bool is_complete() const noexcept { return state == phase::complete; }

  // Of the sender.
  std::size_t sent = 0;
  std::uint32_t number = 0;  // of a message by address
  bool replaces = false;
  phase state = phase::idle;
  send_request* next = nullptr;
};

/// A wanted message. It must not move until it is complete.
struct recv_request {
  enum class phase : std::uint8_t { idle, posted, receiving, complete };
  /// Consumes a piece of the message. All pieces but the last have a multiple of 16 bytes. The
  /// piece is in shared or private memory, and is valid during the call.
  using take_piece = void (*)(void* context, std::size_t offset, const std::byte* piece, std::size_t bytes);

  std::uint64_t tag = 0;
  std::byte* target = nullptr;
  std::size_t capacity = 0;   ///< longer messages are cut off
  take_piece take = nullptr;  ///< null: copies to the target
  void* context = nullptr;

  std::size_t bytes = 0;  ///< the length of the message; known when it is complete

  bool is_complete() const noexcept { return state == phase::complete; }
  bool is_truncated() const noexcept { return bytes > capacity; }

  // Of the receiver.
  std::size_t received = 0;
  std::size_t skip = 0;  // bytes that were delivered before a refusal
  std::uint32_t number = 0;
  phase state = phase::idle;
  recv_request* next = nullptr;
};

/// A list of requests in the order of their start.
template <class Request>
class request_list {
 public:
  bool empty() const noexcept { return first_ == nullptr; }
  Request* first() const noexcept { return first_; }
  void append(Request& r) noexcept {
    r.next = nullptr;
    *end_ = &r;
    end_ = &r.next;
  }
  /// Removes and returns the first request for which `wanted` holds, or returns null.
  template <class Wanted>
  Request* remove_if(Wanted&& wanted) {
    for (Request** at = &first_; *at != nullptr; at = &(*at)->next)
      if (wanted(**at)) {
        Request* const found = *at;
        *at = found->next;
        if (*at == nullptr) end_ = at;
        return found;
      }
    return nullptr;
  }
  void remove_first() noexcept {
    first_ = first_->next;
    if (first_ == nullptr) end_ = &first_;
  }
  void clear() noexcept {
    first_ = nullptr;
    end_ = &first_;
  }
  request_list() = default;
  request_list(const request_list&) = delete;
  request_list& operator=(const request_list&) = delete;

 private:
  Request* first_ = nullptr;
  Request** end_ = &first_;
};

}  // namespace tutti::shm

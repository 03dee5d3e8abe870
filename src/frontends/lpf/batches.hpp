// SPDX-License-Identifier: Apache-2.0
//
// Messages with tags travel in batches. The messages to one process are contiguous, so it fetches
// them by one get from each sender, whatever their number. The sender puts a note with their
// position into a table of the receiver, which has an entry for each sender. BSMP and BSPlib share
// this code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lpf/core.h"

namespace tutti::lpf {

/// A note: the position of a batch at its sender. All zero: there is none.
struct batch {
  std::size_t offset, bytes, messages;
};

/// Parts begin at multiples of 16 bytes, so that programs may read them as the types that they
/// sent.
constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 15) / 16 * 16; }

/// The format of a message in a batch: the length of its payload, its tag, the payload.
struct message_form {
  std::size_t tag_bytes;
  std::size_t tag_at() const noexcept { return 16; }
  std::size_t payload_at() const noexcept { return tag_at() + padded(tag_bytes); }
  std::size_t bytes(std::size_t payload) const noexcept { return payload_at() + padded(payload); }
};

/// The messages that a process has sent in a superstep, in the order of the calls.
class outgoing {
 public:
  /// `notes`: one for each process, kept up to date here; all zero at first.
  outgoing(batch* notes, std::size_t processes) : notes_(notes) { receivers_.reserve(processes); }

  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t messages() const noexcept { return messages_.size(); }
  const std::vector<lpf_pid_t>& receivers() const noexcept { return receivers_; }

  /// Makes room, so that this many messages can be added without an exception.
  void reserve(std::size_t messages) { messages_.reserve(messages); }
  void reserve_one() {
    if (messages_.size() == messages_.capacity())
      messages_.reserve(messages_.empty() ? 16 : 2 * messages_.size());
  }
  /// Adds a message of `bytes` bytes in all.
  void add(lpf_pid_t receiver, std::size_t bytes);
  /// Whether the messages form batches already, in the order of the calls.
  bool in_batches() const noexcept { return runs_ == receivers_.size(); }
  /// Enters the positions of the batches, which begin at `offset`, into the notes.
  void lay_out(std::size_t offset) noexcept;
  /// Called after lay_out(). Copies the messages from the order of the calls, at `from`, into the
  /// order of the batches, at `into`.
  void copy_into_batches(const std::byte* from, std::byte* into);
  void clear() noexcept;

 private:
  struct message {
    lpf_pid_t to;
    std::size_t bytes;
  };
  batch* notes_;
  std::vector<lpf_pid_t> receivers_;  // in the order of their first messages
  std::vector<message> messages_;
  std::size_t bytes_ = 0, runs_ = 0;
};

/// A received message, in place.
struct received_message {
  std::byte* tag;
  std::byte* payload;
  std::size_t bytes;
};

/// The messages received in one superstep, contiguous.
class incoming {
 public:
  void begin(std::byte* first, std::size_t messages, message_form form) noexcept {
    at_ = first;
    left_ = messages;
    form_ = form;
    counted_ = false;
  }
  std::size_t left() const noexcept { return left_; }
  std::size_t tag_bytes() const noexcept { return form_.tag_bytes; }
  /// The payload of all messages that are left. O(1), except for the first call.
  std::size_t payload_bytes() noexcept {
    if (!counted_) count();
    return payload_bytes_;
  }
  /// The first message; requires at least one.
  received_message front() const noexcept { return at(at_); }
  void drop_front() noexcept {
    const std::size_t bytes = front().bytes;
    at_ += form_.bytes(bytes);
    --left_;
    if (counted_) payload_bytes_ -= bytes;
  }

 private:
  received_message at(std::byte* message) const noexcept;
  void count() noexcept;

  std::byte* at_ = nullptr;
  std::size_t left_ = 0;
  message_form form_{0};
  bool counted_ = false;
  std::size_t payload_bytes_ = 0;  // valid if counted_
};

/// Writes the header, which precedes tag and payload.
void write_head(std::byte* message, std::size_t payload_bytes) noexcept;

}  // namespace tutti::lpf

// SPDX-License-Identifier: Apache-2.0
//
// Messages with tags travel in batches. The messages to one process are contiguous, so it fetches
// them by one get from each sender, whatever their number. The sender puts a descriptor of the
// batch into a table of the receiver, which has an entry for each sender. BSMP and BSPlib share
// this code.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "lpf/core.h"

namespace tutti::lpf {

/// The position of a batch in the memory of its sender. All zero: there is none.
struct batch_descriptor {
  std::size_t offset, bytes, messages;
};

/// Tags and payloads begin at multiples of 16 bytes, so that programs may read them as the types
/// that they sent.
constexpr std::size_t padded(std::size_t bytes) noexcept { return (bytes + 15) / 16 * 16; }

/// The format of a message in a batch: the length of the payload, the tag, the payload.
struct message_format {
  std::size_t tag_bytes;
  std::size_t tag_begin() const noexcept { return 16; }
  std::size_t payload_begin() const noexcept { return tag_begin() + padded(tag_bytes); }
  std::size_t bytes(std::size_t payload) const noexcept { return payload_begin() + padded(payload); }
};

/// The messages that a process has sent in a superstep, in the order of the calls.
class outgoing {
 public:
  /// `descriptors`: one for each process, all zero at first. This object updates them.
  outgoing(batch_descriptor* descriptors, std::size_t processes) : descriptors_(descriptors) {
    receivers_.reserve(processes);
  }

  std::size_t bytes() const noexcept { return bytes_; }
  std::size_t messages() const noexcept { return messages_.size(); }
  const std::vector<lpf_pid_t>& receivers() const noexcept { return receivers_; }

  /// Allocates memory, so that this many messages can be added without an exception.
  void reserve(std::size_t messages) { messages_.reserve(messages); }
  void reserve_one() {
    if (messages_.size() == messages_.capacity())
      messages_.reserve(messages_.empty() ? 16 : 2 * messages_.size());
  }
  /// Adds a message of `bytes` bytes, with header, tag and padding.
  void add(lpf_pid_t receiver, std::size_t bytes);
  /// Whether the messages, in the order of the calls, are already batches.
  bool in_batches() const noexcept { return runs_ == receivers_.size(); }
  /// Enters the positions of the batches, which begin at `offset`, into the descriptors.
  void assign_offsets(std::size_t offset) noexcept;
  /// Called after assign_offsets(). Copies the messages from `from`, in the order of the calls, to
  /// `into`, in the order of the batches.
  void copy_into_batches(const std::byte* from, std::byte* into);
  void clear() noexcept;

 private:
  struct message {
    lpf_pid_t to;
    std::size_t bytes;
  };
  batch_descriptor* descriptors_;
  std::vector<lpf_pid_t> receivers_;  // in the order of their first messages
  std::vector<message> messages_;
  std::size_t bytes_ = 0, runs_ = 0;
};

/// A received message. The pointers refer to the received batch.
struct received_message {
  std::byte* tag;
  std::byte* payload;
  std::size_t bytes;
};

/// The messages received in one superstep, contiguous.
class incoming {
 public:
  void begin(std::byte* first, std::size_t messages, message_format format) noexcept {
    at_ = first;
    remaining_ = messages;
    format_ = format;
    counted_ = false;
  }
  std::size_t remaining() const noexcept { return remaining_; }
  std::size_t tag_bytes() const noexcept { return format_.tag_bytes; }
  /// The payload bytes of all remaining messages. O(1), except for the first call.
  std::size_t payload_bytes() noexcept {
    if (!counted_) count();
    return payload_bytes_;
  }
  /// The first message; requires at least one.
  received_message front() const noexcept { return at(at_); }
  void drop_front() noexcept {
    const std::size_t bytes = front().bytes;
    at_ += format_.bytes(bytes);
    --remaining_;
    if (counted_) payload_bytes_ -= bytes;
  }

 private:
  received_message at(std::byte* message) const noexcept;
  void count() noexcept;

  std::byte* at_ = nullptr;
  std::size_t remaining_ = 0;
  message_format format_{0};
  bool counted_ = false;
  std::size_t payload_bytes_ = 0;  // valid if counted_
};

/// Writes the header, which precedes tag and payload.
void write_header(std::byte* message, std::size_t payload_bytes) noexcept;

}  // namespace tutti::lpf

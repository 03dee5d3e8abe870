// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/batches.hpp"

#include <cstring>

namespace tutti::lpf {

void outgoing::add(lpf_pid_t receiver, std::size_t bytes) {
  const bool same_run = !messages_.empty() && messages_.back().to == receiver;
  messages_.push_back({receiver, bytes});
  batch& note = notes_[receiver];
  if (note.messages++ == 0) receivers_.push_back(receiver);
  note.bytes += bytes;
  bytes_ += bytes;
  if (!same_run) ++runs_;
}

void outgoing::lay_out(std::size_t offset) noexcept {
  for (const lpf_pid_t receiver : receivers_) {
    notes_[receiver].offset = offset;
    offset += notes_[receiver].bytes;
  }
}

void outgoing::copy_into_batches(const std::byte* from, std::byte* into) {
  if (messages_.empty()) return;
  // The offsets of the notes serve as write positions, and are restored below.
  const std::size_t first = notes_[receivers_.front()].offset;
  for (const message& m : messages_) {
    std::size_t& offset = notes_[m.to].offset;
    std::memcpy(into + (offset - first), from, m.bytes);
    offset += m.bytes;
    from += m.bytes;
  }
  lay_out(first);
}

void outgoing::clear() noexcept {
  for (const lpf_pid_t receiver : receivers_) notes_[receiver] = {};
  receivers_.clear();
  messages_.clear();
  bytes_ = runs_ = 0;
}

void incoming::count() noexcept {
  payload_bytes_ = 0;
  std::byte* message = at_;
  for (std::size_t i = 0; i < left_; ++i) {
    const std::size_t bytes = at(message).bytes;
    payload_bytes_ += bytes;
    message += form_.bytes(bytes);
  }
  counted_ = true;
}

received_message incoming::at(std::byte* message) const noexcept {
  std::size_t bytes = 0;
  std::memcpy(&bytes, message, sizeof bytes);
  return {message + form_.tag_at(), message + form_.payload_at(), bytes};
}

void write_head(std::byte* message, std::size_t payload_bytes) noexcept {
  std::memcpy(message, &payload_bytes, sizeof payload_bytes);
}

}  // namespace tutti::lpf

// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/batches.hpp"

#include <cstring>

namespace tutti::lpf {

void outgoing::add(lpf_pid_t receiver, std::size_t bytes) {
  const bool same_run = !messages_.empty() && messages_.back().to == receiver;
  messages_.push_back({receiver, bytes});
  batch_descriptor& descriptor = descriptors_[receiver];
  if (descriptor.messages++ == 0) receivers_.push_back(receiver);
  descriptor.bytes += bytes;
  bytes_ += bytes;
  if (!same_run) ++runs_;
}

void outgoing::assign_offsets(std::size_t offset) noexcept {
  for (const lpf_pid_t receiver : receivers_) {
    descriptors_[receiver].offset = offset;
    offset += descriptors_[receiver].bytes;
  }
}

void outgoing::copy_into_batches(const std::byte* from, std::byte* into) {
  if (messages_.empty()) return;
  // The offsets of the descriptors serve as write positions. assign_offsets() restores them.
  const std::size_t first = descriptors_[receivers_.front()].offset;
  for (const message& m : messages_) {
    std::size_t& offset = descriptors_[m.to].offset;
    std::memcpy(into + (offset - first), from, m.bytes);
    offset += m.bytes;
    from += m.bytes;
  }
  assign_offsets(first);
}

void outgoing::clear() noexcept {
  for (const lpf_pid_t receiver : receivers_) descriptors_[receiver] = {};
  receivers_.clear();
  messages_.clear();
  bytes_ = runs_ = 0;
}

void incoming::count() noexcept {
  payload_bytes_ = 0;
  std::byte* message = at_;
  for (std::size_t i = 0; i < remaining_; ++i) {
    const std::size_t bytes = at(message).bytes;
    payload_bytes_ += bytes;
    message += format_.bytes(bytes);
  }
  counted_ = true;
}

received_message incoming::at(std::byte* message) const noexcept {
  std::size_t bytes = 0;
  std::memcpy(&bytes, message, sizeof bytes);
  return {message + format_.tag_begin(), message + format_.payload_begin(), bytes};
}

void write_header(std::byte* message, std::size_t payload_bytes) noexcept {
  std::memcpy(message, &payload_bytes, sizeof payload_bytes);
}

}  // namespace tutti::lpf

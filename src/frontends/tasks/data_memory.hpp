// SPDX-License-Identifier: Apache-2.0
//
// Memory that data stand in: blocks that are shared by those who still need them, and contents, which nodes
// refer to before it is known where they will stand. Counted by the rank's own thread alone.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace tutti::tasks {

struct failure;

/// Bytes on a boundary of 64, in front of which there is room for a head of a message.
class block {
 public:
  static constexpr std::size_t head_bytes = 48;

  static block* make(std::size_t bytes) {
    void* const at = ::operator new (sizeof(block) + bytes, std::align_val_t{64});
    return new (at) block;
  }
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  /// Where a message with its head begins.
  std::byte* message() noexcept { return data() - head_bytes; }
  void keep() noexcept { ++users_; }
  void drop() noexcept {
    if (--users_ == 0) ::operator delete (static_cast<void*>(this), std::align_val_t{64});
  }

 private:
  block() = default;
  std::uint32_t users_ = 1;
  alignas(64) std::byte before_[64] = {};
};

/// What a datum is on this rank, from one writer to the next, or for good.
struct contents {
  std::byte* data = nullptr;
  const failure* poisoned = nullptr;  // written by whoever makes them, read by those behind
  block* in = nullptr;                // null: memory of the program's, or none yet
  std::uint32_t users = 1;

  void keep() noexcept { ++users; }
  void drop() noexcept {
    if (--users != 0) return;
    if (in != nullptr) in->drop();
    delete this;
  }
  /// Stands in a block, of which this takes over one use.
  void substitute_buffers(block* b) noexcept {
    if (in != nullptr) in->drop();
    in = b;
    data = b->data();
  }
};

}  // namespace tutti::tasks

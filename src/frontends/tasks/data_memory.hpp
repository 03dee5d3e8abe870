// SPDX-License-Identifier: Apache-2.0
//
// Memory of data: blocks, and contents, to which nodes refer before their memory is known. Both
// count their users without atomics, because only the rank's own thread counts.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

namespace tutti::tasks {

struct failure;

/// Bytes on a boundary of 64, behind space for the header of a message.
class block {
 public:
  static constexpr std::size_t header_bytes = 48;

  static block* make(std::size_t bytes) {
    void* const at = ::operator new (sizeof(block) + bytes, std::align_val_t{64});
    return new (at) block;
  }
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
  /// The address of a message that begins with its header.
  std::byte* message() noexcept { return data() - header_bytes; }
  void retain() noexcept { ++users_; }
  void release() noexcept {
    if (--users_ == 0) ::operator delete (static_cast<void*>(this), std::align_val_t{64});
  }

 private:
  block() = default;
  std::uint32_t users_ = 1;
  alignas(64) std::byte before_[64] = {};
};

/// One version of data on this rank: from one writer to the next, or all versions if written in
/// place.
struct contents {
  std::byte* data = nullptr;
  const failure* poisoned = nullptr;  // why the writer has not computed them
  block* memory = nullptr;            // null: memory of the program, or none yet
  std::uint32_t users = 1;

  void retain() noexcept { ++users; }
  void release() noexcept {
    if (--users != 0) return;
    if (memory != nullptr) memory->release();
    delete this;
  }
  /// Places the contents in a block, and takes over one use of it.
  void use_block(block* b) noexcept {
    if (memory != nullptr) memory->release();
    memory = b;
    data = b->data();
  }
};

}  // namespace tutti::tasks

// SPDX-License-Identifier: Apache-2.0
//
// Memory for the duration of a call: acquire_memory() and release_memory() of detail/abi.hpp. A
// released block serves the next request of the same size.
#pragma once

#include <cstddef>
#include <new>
#include <vector>

namespace tutti::detail {

class call_memory {
 public:
  call_memory() = default;
  ~call_memory() {
    for (const block& one : idle_) ::operator delete(one.at);
  }
  call_memory(const call_memory&) = delete;
  call_memory& operator=(const call_memory&) = delete;

  void* acquire(std::size_t bytes) {
    for (block& one : idle_)
      if (one.bytes == bytes) {
        void* const found = one.at;
        one = idle_.back();
        idle_.pop_back();
        return found;
      }
    if (idle_.capacity() == 0) idle_.reserve(max_idle);
    return ::operator new(bytes);
  }
  void release(void* memory, std::size_t bytes) noexcept {
    if (idle_.size() < idle_.capacity())
      idle_.push_back({bytes, memory});
    else
      ::operator delete(memory);
  }

 private:
  static constexpr std::size_t max_idle = 64;
  struct block {
    std::size_t bytes;
    void* at;
  };
  std::vector<block> idle_;
};

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// Memory that grows by doubling and is not initialized, unlike that of std::vector. malloc() aligns
// it to 16 bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace tutti::lpf {

class buffer {
 public:
  std::byte* data() const noexcept { return data_.get(); }
  std::size_t size() const noexcept { return size_; }

  /// Allocates memory for `bytes` bytes. If it throws std::bad_alloc, it has no effect.
  void reserve(std::size_t bytes) {
    if (bytes <= capacity_) return;
    if (bytes > PTRDIFF_MAX) throw std::bad_alloc();
    const std::size_t more = std::max(bytes, std::min<std::size_t>(2 * capacity_, PTRDIFF_MAX));
    void* const moved = std::realloc(data_.get(), more);
    if (moved == nullptr) throw std::bad_alloc();
    static_cast<void>(data_.release());
    data_.reset(static_cast<std::byte*>(moved));
    capacity_ = more;
  }
  /// Allocates memory for `bytes` more bytes.
  void reserve_more(std::size_t bytes) {
    if (bytes > PTRDIFF_MAX - size_) throw std::bad_alloc();
    reserve(size_ + bytes);
  }
  /// Appends `bytes` uninitialized bytes. Invalidates pointers to the contents.
  std::byte* add(std::size_t bytes) {
    reserve_more(bytes);
    std::byte* const at = data_.get() + size_;
    size_ += bytes;
    return at;
  }
  void clear() noexcept { size_ = 0; }

 private:
  struct release {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };
  std::unique_ptr<std::byte, release> data_;
  std::size_t size_ = 0, capacity_ = 0;
};

}  // namespace tutti::lpf

// SPDX-License-Identifier: Apache-2.0
//
// The cells of one sender, for all its channels. The cells are in shared memory. Only the sender
// writes them, and only the sender knows which are free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::shm {

/// `Sender` has held(), the number of cells it holds, and collect_consumed(), which returns those
/// that its receiver has consumed.
template <class Sender>
class cell_pool {
 public:
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  cell_pool(std::byte* cells, std::uint32_t count, std::size_t cell_bytes)
      : cells_(cells), cell_bytes_(cell_bytes), count_(count) {
    free_.reserve(count);
    for (std::uint32_t c = count; c != 0; --c) free_.push_back(c - 1);
  }
  cell_pool(const cell_pool&) = delete;
  cell_pool& operator=(const cell_pool&) = delete;

  void add(Sender& s) { senders_.push_back(&s); }
  std::size_t cell_bytes() const noexcept { return cell_bytes_; }
  std::byte* at(std::uint32_t cell) const noexcept { return cells_ + cell * cell_bytes_; }
  std::uint32_t free_count() const noexcept { return static_cast<std::uint32_t>(free_.size()); }
  std::uint32_t count() const noexcept { return count_; }

  /// A free cell, or none if the sender holds at least as many as are free. The last returned cell
  /// comes first, because it is still in the cache.
  std::uint32_t take(const Sender& s) {
    if (s.held() >= free_count()) [[unlikely]] {
      for (Sender* one : senders_)
        if (one->held() != 0) one->collect_consumed();
      if (s.held() >= free_count()) return none;
    }
    const std::uint32_t cell = free_.back();
    free_.pop_back();
    return cell;
  }
  void put(std::uint32_t cell) noexcept { free_.push_back(cell); }  // within the reserved capacity

 private:
  std::byte* cells_;
  std::size_t cell_bytes_;
  std::uint32_t count_;
  std::vector<std::uint32_t> free_;
  std::vector<Sender*> senders_;
};

}  // namespace tutti::shm

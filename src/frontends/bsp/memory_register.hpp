// SPDX-License-Identifier: Apache-2.0
//
// The memory that a process has registered, by slot. Global slots have the same numbers on all
// processes, because all register and deregister them in the same order. Local slots have separate
// numbers, so they do not change those of global slots.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tutti/detail/bsp_abi.hpp"

namespace tutti::bsp {

/// The memory of a slot.
struct area {
  std::byte* base = nullptr;
  std::size_t size = 0;
  bool live = false;
  std::uint64_t registered_in = 0;  ///< the superstep in which it was registered

  bool contains(std::size_t offset, std::size_t bytes) const noexcept {
    return live && bytes <= size && offset <= size - bytes;
  }
};

class memory_register {
 public:
  static bool is_global(slot s) noexcept { return s % 2 == 0; }

  /// Sets the capacity from the next sync on. If it throws std::bad_alloc or std::length_error, it
  /// has no effect.
  void resize(std::size_t entries) {
    if (entries > capacity_) {
      global_.reserve(entries);
      local_.reserve(entries);
    }
    next_capacity_ = entries;
  }
  void at_sync() noexcept { capacity_ = next_capacity_; }
  bool full() const noexcept { return used_ >= capacity_; }
  /// Doubles the capacity at once.
  void grow() {
    resize(std::max<std::size_t>(16, 2 * capacity_));
    capacity_ = next_capacity_;
  }

  /// Reserves an entry for another object that counts in the register. Returns false if the
  /// register is full.
  bool acquire_entry() noexcept {
    if (full()) return false;
    ++used_;
    return true;
  }
  void release_entry() noexcept { --used_; }

  /// Returns false if the register is full.
  bool add(bool global, void* base, std::size_t size, std::uint64_t superstep, slot& made) {
    if (!acquire_entry()) return false;
    list& all = global ? global_ : local_;
    const std::size_t i = all.first_free();
    all.entries[i] = {static_cast<std::byte*>(base), size, true, superstep};
    made = 2 * i + (global ? 0 : 1);
    return true;
  }
  /// Requires that the slot exists.
  void remove(slot s) {
    list& all = is_global(s) ? global_ : local_;
    all.entries[s / 2].live = false;
    all.free.push_back(s / 2);
    release_entry();
  }
  /// Returns null if there is no such slot.
  const area* find(slot s) const noexcept {
    const area* const a = entry(s);
    return a != nullptr && a->live ? a : nullptr;
  }
  /// The same; also null if the slot does not contain this range.
  const area* find(slot s, std::size_t offset, std::size_t bytes) const noexcept {
    const area* const a = entry(s);
    return a != nullptr && a->contains(offset, bytes) ? a : nullptr;
  }

 private:
  struct list {
    std::vector<area> entries;
    std::vector<std::size_t> free;  // the last one is reused first: the same on all processes

    void reserve(std::size_t n) {
      entries.reserve(n);
      free.reserve(n);
    }
    std::size_t first_free() {
      if (free.empty()) {
        entries.emplace_back();
        return entries.size() - 1;
      }
      const std::size_t i = free.back();
      free.pop_back();
      return i;
    }
  };
  const area* entry(slot s) const noexcept {
    const list& all = is_global(s) ? global_ : local_;
    return s / 2 < all.entries.size() ? all.entries.data() + s / 2 : nullptr;
  }

  list global_, local_;
  std::size_t capacity_ = 0, next_capacity_ = 0, used_ = 0;
};

}  // namespace tutti::bsp

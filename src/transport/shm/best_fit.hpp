// SPDX-License-Identifier: Apache-2.0
//
// Divides an interval of addresses into allocations, and does not access the memory there. An
// allocation takes the smallest free interval that holds it, so the rest of a large one stays
// whole. Neighboring free intervals are merged. Each operation takes logarithmic time, except that
// an alignment of more than `granule` may examine free intervals that are too small for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <new>
#include <set>
#include <utility>

namespace tutti::shm {

/// For bookkeeping that must not depend on an operator new of the program.
template <class T>
struct malloc_allocator {
  using value_type = T;
  malloc_allocator() = default;
  template <class U>
  malloc_allocator(const malloc_allocator<U>&) noexcept {}
  T* allocate(std::size_t n) {
    if (void* const p = std::malloc(n * sizeof(T))) return static_cast<T*>(p);
    throw std::bad_alloc();
  }
  void deallocate(T* p, std::size_t) noexcept { std::free(p); }
  friend bool operator==(const malloc_allocator&, const malloc_allocator&) noexcept { return true; }
};

class best_fit {
 public:
  static constexpr std::size_t granule = 64;
  struct interval {
    std::uintptr_t begin = 0, end = 0;
  };

  /// Both are multiples of `granule`.
  best_fit(std::uintptr_t begin, std::uintptr_t end);

  /// `alignment` is a power of two. Returns 0 if no free interval holds it. Throws std::bad_alloc
  /// if the bookkeeping has no memory; then nothing has changed.
  std::uintptr_t allocate(std::size_t bytes, std::size_t alignment);
  /// The addresses of the allocation that begins there, with the bytes that rounding added. Empty
  /// if none does.
  interval find(std::uintptr_t allocation) const noexcept;
  /// `allocation` is one of allocate(). Needs no memory.
  void deallocate(std::uintptr_t allocation) noexcept;

 private:
  using by_size = std::set<std::pair<std::size_t, std::uintptr_t>, std::less<>,
                           malloc_allocator<std::pair<std::size_t, std::uintptr_t>>>;
  struct entry {
    std::uintptr_t end;
    bool is_free;
    by_size::node_type node;  // of an allocation: the node for the time when it is free again
  };
  using by_address =
      std::map<std::uintptr_t, entry, std::less<>, malloc_allocator<std::pair<const std::uintptr_t, entry>>>;

  void cut(by_address::iterator from, std::uintptr_t at);
  void take(by_address::iterator at) noexcept;

  by_address all_;  // without gaps; no two neighbors are free
  by_size free_;
};

}  // namespace tutti::shm

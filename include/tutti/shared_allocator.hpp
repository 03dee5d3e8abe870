// SPDX-License-Identifier: Apache-2.0
//
// Memory for buffers that the other processes of the node can map.
//
// Over MPI each rank is a process. If all buffers that a long call needs lie in this memory, the
// ranks of a node work in them in place, without system calls and intermediate copies. Any
// container with an allocator may use it, and all calls accept such a container like any other:
//
// ```cpp
// #include <numeric>
// #include <tutti/shared_allocator.hpp>
// std::vector<double, tutti::shared_allocator<double>> mine(100000), sum(mine.size());
// std::iota(mine.begin(), mine.end(), world.rank());
// world.allreduce(send_buf(mine), recv_buf(sum), op(ops::plus<>{}));
// assert(sum[1] - sum[0] == world.size());
// ```
//
// On threads and fibers the ranks share all memory anyway. There the allocator works and changes
// nothing.
//
// The memory of an allocation is committed at once, on the NUMA node of the allocating thread. New
// memory takes about as long as its first use, and has no huge pages where the kernel gives none to
// shared memory. So use it for long buffers that live long, not for the nodes of a list or map. A
// process that is forked, and does not call exec(), may read and write its copies of buffers, but
// still sees later writes of the parent to pages that it has not written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

/// The ranks prepare for shared buffers at the start of a run. Returns true.
bool expect_shared_memory() noexcept;

/// `alignment` is a power of two. Throws std::bad_alloc.
void* allocate_shared(std::size_t bytes, std::size_t alignment);
void free_shared(void* memory) noexcept;

}  // namespace detail

/// An allocator without state; all its objects are equal. It takes ordinary memory if the kernel
/// has no memfd, or no such memory is left. The same holds if the address space is limited (ulimit
/// -v), if vm.overcommit_memory is 2, and in forked children.
template <class T>
class shared_allocator {
 public:
  using value_type = T;
  using propagate_on_container_move_assignment = std::true_type;
  using is_always_equal = std::true_type;

  constexpr shared_allocator() noexcept = default;
  template <class U>
  constexpr shared_allocator(const shared_allocator<U>&) noexcept {}

  /// Throws std::bad_array_new_length if n elements have more bytes than a pointer difference can
  /// state, and std::bad_alloc if there is no ordinary memory either.
  [[nodiscard]] T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(PTRDIFF_MAX) / sizeof(T)) throw std::bad_array_new_length();
    [[maybe_unused]] const bool& used = expected_;  // so that it is initialized
    return static_cast<T*>(detail::allocate_shared(n * sizeof(T), alignof(T)));
  }
  /// `memory` is a result of allocate(). If shared memory is freed twice, the process ends with a
  /// message.
  void deallocate(T* memory, std::size_t) noexcept { detail::free_shared(memory); }

  template <class U>
  friend constexpr bool operator==(const shared_allocator&, const shared_allocator<U>&) noexcept {
    return true;
  }

 private:
  // Initialized before main() in programs that allocate memory with this class.
  static inline const bool expected_ = detail::expect_shared_memory();
};

}  // namespace tutti
TUTTI_API_END

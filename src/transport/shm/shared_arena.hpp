// SPDX-License-Identifier: Apache-2.0
//
// Memory of a process that other processes of its node can map. A process has one arena: a memfd of
// a large size, mapped as a whole, of which only the allocated pages use memory. Other processes
// open it by /proc/PID/fd/FILE, and read and write its buffers.
//
// The pages of an allocation are committed before allocate() returns. So a lack of memory is
// std::bad_alloc, and no later access raises SIGBUS. The committing thread determines the NUMA
// node.
//
// The list of allocations is outside of the arena, ordered by offset and by size (best fit). A
// stray write into a buffer cannot damage it, and it commits no pages. An entry takes some 150
// bytes of ordinary memory, so the arena is for buffers and not for the nodes of containers. Freed
// pages of large allocations stay committed up to a limit, and beyond it return to the kernel.
//
// fork(): the writes of a forked child are its own. It has no arena for others: offset_of() returns
// npos, offer() names no file, allocate() throws and deallocate() keeps the memory. Pages that the
// child has not written still show later writes of the parent and of others, also after the parent
// has freed them. So a child that uses memory of the arena for long needs a copy. fork() followed
// by exec() is safe, and so is vfork().
//
// A module with a copy of this code calls use(), so that it shares the arena of the program.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tutti::shm {

/// Identifies an arena for other processes of the node. They open /proc/PID/fd/FILE.
struct arena_offer {
  std::int32_t file = -1;  ///< -1: none
  std::uint64_t bytes = 0;
  std::uint64_t nonce[2] = {};
};

/// The arena of a program, also before it is made.
struct arena_state;

/// The addresses that others can map. Empty before the first allocation and in forked children.
struct arena_range {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::size_t> bytes{0};
};

/// One per process, created at the first allocation, never destroyed. Thread-safe.
class shared_arena {
 public:
  static constexpr std::size_t npos = ~std::size_t{0};

  /// `alignment` is a power of two. No bytes are allocated as one. Throws std::bad_alloc if no
  /// memory is left, the kernel has no memfd, or this process is a forked child.
  static void* allocate(std::size_t bytes, std::size_t alignment);
  /// The same, but returns null.
  static void* try_allocate(std::size_t bytes, std::size_t alignment) noexcept;
  /// False if the address does not lie in the arena. Else frees it; if no allocation begins there,
  /// the process ends.
  static bool deallocate(void* p) noexcept;
  /// Bytes that the allocation at `p` can hold. 0 if `p` is none of the arena.
  static std::size_t usable_size(const void* p) noexcept;
  /// The offset of [p, p + bytes) in the arena. npos if it does not lie in it, there is no arena,
  /// or this process is a forked child of the one that made it. Takes three loads and two
  /// comparisons.
  static std::size_t offset_of(const void* p, std::size_t bytes) noexcept {
    const arena_range& range = *range_.load(std::memory_order_acquire);
    const std::size_t size = range.bytes.load(std::memory_order_acquire);
    const std::uintptr_t offset =
        reinterpret_cast<std::uintptr_t>(p) - range.begin.load(std::memory_order_relaxed);
    return offset < size && bytes <= size - offset ? offset : npos;
  }
  /// file = -1: no arena so far.
  static arena_offer offer() noexcept;
  /// The program will allocate memory here, for buffers of collectives.
  static void expect() noexcept;
  /// Whether expect() was called, or an arena exists.
  static bool is_expected() noexcept;

  /// The arena of this copy of the code, for use() in another copy.
  static arena_state& current() noexcept;
  /// From now on this copy of the code uses that arena. Called before its first use.
  static void use(arena_state& of) noexcept;

 private:
  static std::atomic<const arena_range*> range_;
};

/// The arena of another process, mapped as a whole.
class mapped_arena {
 public:
  mapped_arena() = default;
  ~mapped_arena() { close(); }
  mapped_arena(const mapped_arena&) = delete;
  mapped_arena& operator=(const mapped_arena&) = delete;

  /// Empty text: success. Else the reason: the process has ended, the file may not be opened,
  /// another nonce, no address space.
  std::string open(int pid, const arena_offer& of);
  /// Null if it is not open. Only pages of allocations of the owner may be accessed.
  std::byte* memory() const noexcept { return memory_; }
  std::size_t bytes() const noexcept { return bytes_; }
  void close() noexcept;

 private:
  std::byte* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace tutti::shm

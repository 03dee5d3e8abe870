// SPDX-License-Identifier: Apache-2.0
//
// The addresses of the parts of a shared-memory segment. Each rank computes the layout by itself,
// from values that all ranks know, and the hash detects ranks that computed another one.
//
//   header | one line per rank | shared parts | area of rank 0 | area of rank 1 | ...
//
// An area holds one block of each part that the ranks have for themselves. It begins on a page, so
// the rank that touches it first determines its NUMA node.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "transport/shm/process_identity.hpp"

namespace tutti::shm {

/// Two cache lines, because processors fetch lines in pairs.
inline constexpr std::size_t segment_line = 128;

struct segment_identity {
  std::uint64_t magic;
  std::uint64_t nonce[2];
  std::uint64_t layout_hash, bytes;
};

struct segment_header {
  alignas(segment_line) segment_identity identity;
  /// 0, or 1 + the rank that the job has lost.
  alignas(segment_line) std::atomic<std::uint32_t> aborted;
  /// Not 0: the job has failed, and a rank has left calls in which others may read its memory.
  std::atomic<std::uint32_t> left_calls;
};

enum class segment_role : std::uint32_t { absent, joined, left };

/// The data that a rank publishes about its process. The rank alone writes it.
struct alignas(segment_line) segment_rank {
  process_identity process;
  std::atomic<segment_role> role;
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
              std::atomic<segment_role>::is_always_lock_free);

/// A part of a segment. Its offset is relative to the segment, or to the area of each rank.
struct segment_part {
  std::size_t offset = 0, bytes = 0;
  bool per_rank = false;
};

class segment_layout {
 public:
  explicit segment_layout(int ranks);

  /// Adds a part that exists once. `alignment` is a power of two, at most 4096. The name identifies
  /// the contents: change it if their format changes.
  segment_part add(std::string_view name, std::size_t bytes, std::size_t alignment = segment_line);
  /// Adds a block of `bytes` for each rank.
  segment_part add_per_rank(std::string_view name, std::size_t bytes, std::size_t alignment = segment_line);

  /// Leaves all but the first bytes of `part`, the last shared part, unallocated at the set-up. Its
  /// user allocates them with process_memory::allocate() before any access. Ignored if the kernel
  /// cannot do that.
  void allocate_later(const segment_part& part, std::size_t all_but) noexcept;

  int ranks() const noexcept { return ranks_; }
  /// The size of the segment, a multiple of the page size.
  std::size_t bytes() const noexcept;
  std::size_t shared_bytes() const noexcept;            ///< the size of all that precedes the areas
  std::size_t allocated_shared_bytes() const noexcept;  ///< those that the set-up allocates
  std::size_t area_bytes() const noexcept;              ///< the size of one area
  std::size_t area_offset(int rank) const noexcept;
  /// Depends on the ranks, on all parts and on the version of the library.
  std::uint64_t hash() const noexcept { return hash_; }

 private:
  segment_part append(std::size_t& end, std::string_view name, std::size_t bytes, std::size_t alignment,
                      bool per_rank);

  int ranks_;
  std::size_t shared_end_, area_end_ = 0;
  std::size_t allocated_end_ = ~std::size_t{0};
  std::uint64_t hash_;
};

}  // namespace tutti::shm

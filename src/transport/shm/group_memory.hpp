// SPDX-License-Identifier: Apache-2.0
//
// The memory of the groups of a node. The members of a group find it by the group's name, so they
// send no message. The first member that enters reserves memory for all members. When all have
// entered and left, the memory is free again.
//
// The memory is in a segment. The table of groups is protected by a mutex of all processes. A
// process may end while it holds the mutex; then the job ends too, so the others just go on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/group/group_name.hpp"

namespace tutti::shm {

class group_memory {
 public:
  /// Each member has one block. Some groups have larger blocks.
  struct sizes {
    int ranks;                // of the node
    std::size_t small_block;  // a multiple of 128, as the next
    std::size_t large_block;
    /// The bytes of a block that must be 0 when it is given out.
    std::size_t head = ~std::size_t{0};

    // The small blocks get at most 8 MiB, and what the large ones leave of 36 MiB. But there are
    // always some for 16 groups of all ranks.
    static constexpr std::size_t max_small_bytes = std::size_t{8} << 20, max_bytes = std::size_t{36} << 20;
    /// How many groups of all ranks have small and large blocks, and how many groups there are.
    std::size_t small_groups = 1024, min_small_groups = 16, large_groups = 12, all_groups = 4096;

    std::size_t small_blocks() const noexcept;
    std::size_t large_blocks() const noexcept { return large_groups * static_cast<std::size_t>(ranks); }
    std::size_t table_bytes() const noexcept;
    std::size_t bytes() const noexcept;
  };
  /// The memory of a group. The heads of its blocks are 0 initially.
  struct place {
    std::byte* memory = nullptr;  ///< null: no memory is left
    bool large = false;
  };

  /// `memory`: bytes(), initially 0, aligned to 128.
  group_memory(std::byte* memory, const sizes& of) noexcept;
  /// By one rank, before the first enter() of any rank.
  void initialize();

  /// By each member, once. The same result on all members, which are at most `ranks`.
  place enter(const detail::group_name& name, int members);
  /// By each member that has entered, when it no longer uses the memory.
  void leave(const detail::group_name& name) noexcept;

 private:
  struct entry;
  struct table;
  class lock;
  std::size_t reserve(bool large, std::size_t blocks) noexcept;
  void release(bool large, std::size_t first, std::size_t blocks) noexcept;
  std::byte* block(bool large, std::size_t index) const noexcept;
  std::uint8_t* used(bool large) const noexcept;
  entry* groups() const noexcept;

  sizes of_;
  std::byte* memory_;
};

}  // namespace tutti::shm

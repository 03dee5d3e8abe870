// SPDX-License-Identifier: Apache-2.0
//
// The groups of a node: a number for each, which the tags of its messages contain, and memory for
// its collectives. The members of a group find its entry by the group's name, so they send no
// message. A member that never uses the group does not enter. So an entry does not wait for all
// members. It is free when all ranks that have entered have left, and no rank is awaited. A rank is
// awaited if a message was sent to it, or if memory was requested, and it has not entered. A rank
// that leaves names the ranks to which it has sent. The first member that requests memory names all
// members, because all of them take part in a collective. If an awaited rank never enters, because
// it ignores its messages, the entry stays in use.
//
// Either all members of a group get a number or none does, whenever they enter: after the table was
// full, it never admits a new group. A rank may get another number than a rank that has left, if
// that rank has sent it nothing. Numbers are used again after 2^27 groups. So messages that no rank
// has received match no later call.
//
// The table is in a segment. A mutex of all processes protects it. A process may end while it holds
// the mutex. Then the job ends too, so the other processes ignore the loss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

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
    /// Blocks without pages get them with their first group: the whole block, or its head only.
    bool only_heads_get_pages = false;

    // The small blocks get at most 8 MiB, and what the large ones leave of 36 MiB. But there are
    // always some for 16 groups of all ranks.
    static constexpr std::size_t max_small_bytes = std::size_t{8} << 20, max_bytes = std::size_t{36} << 20;
    /// How many groups of all ranks have small and large blocks, and how many groups there are.
    std::size_t small_groups = 1024, min_small_groups = 16, large_groups = 12, all_groups = 4096;

    std::size_t small_blocks() const noexcept;
    std::size_t large_blocks() const noexcept { return large_groups * static_cast<std::size_t>(ranks); }
    std::size_t table_bytes() const noexcept;
    std::size_t bytes_before_blocks() const noexcept;
    std::size_t bytes() const noexcept;
  };
  /// Numbers of groups are 1 .. max_number. Tags of messages have space for them.
  static constexpr int number_bits = 27;
  static constexpr std::uint32_t max_number = (std::uint32_t{1} << number_bits) - 1;
  /// A group that a rank has entered.
  struct membership {
    std::uint32_t number = 0;  ///< 0: the table was full
    std::uint32_t row = 0;
    bool closes = false;  ///< this is the first group without a number
  };
  /// The memory of a group. The heads of its blocks are 0 initially.
  struct place {
    std::byte* memory = nullptr;  ///< null: no memory is left
    bool large = false;
    bool lacks_pages = false;  ///< the node has no memory for them; set on one member of the group
  };

  /// `memory`: bytes(), initially 0, aligned to 128. The blocks may have no pages yet.
  group_memory(std::byte* memory, const sizes& of) noexcept;
  /// By one rank, before the first enter() of any rank. `last_number`: for tests, the number before
  /// that of the first group. `has_pages`: that of the blocks; otherwise they, or their heads, get
  /// them with their first group.
  void initialize(std::uint32_t last_number = 0, bool has_pages = true);

  /// By each rank that uses the group, once. `rank`: in the node.
  membership enter(const detail::group_name& name, int rank);
  /// A block for each member. By all members, because they make a collective call. The same result
  /// on all of them. `members`: their ranks in the node.
  place blocks(const membership& of, std::span<const int> members) noexcept;
  /// By each rank that has entered, when it no longer uses the memory. `sent_to`: for each rank of
  /// the node, whether messages with this number were sent to it; empty: to none.
  void leave(const membership& of, int rank, std::span<const bool> sent_to = {}) noexcept;

 private:
  struct entry;
  struct table;
  class lock;
  enum class presence : std::uint8_t;
  enum class block_state : std::uint8_t;
  std::size_t reserve(bool large, std::size_t blocks) noexcept;
  bool has_unused(std::size_t blocks) const noexcept;
  void release(bool large, std::size_t first, std::size_t blocks) noexcept;
  std::byte* block(bool large, std::size_t index) const noexcept;
  block_state* states(bool large) const noexcept;
  entry* groups() const noexcept;
  std::uint32_t unused_number_after(std::uint32_t number, std::size_t end) const noexcept;
  presence* ranks_of(std::size_t row) const noexcept;
  void await(std::size_t row, std::size_t rank) noexcept;

  sizes of_;
  std::byte* memory_;
};

}  // namespace tutti::shm

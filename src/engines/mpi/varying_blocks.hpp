// SPDX-License-Identifier: Apache-2.0
//
// gatherv, scatterv and alltoallv in the memory of a node. The lengths of the blocks are local: no
// member can compute how many rounds another one needs. So a call has one round. An owner is a
// member that has blocks for others. It posts their lengths, and the blocks that fit in its line or
// slot. All other blocks follow as messages through the channels of the node (part_messages.hpp).
// The post states for each block whether it is a message.
//
//   line: word 0 and the post, if both fit; otherwise word 1, and the slot has the post
//   post: a word for each reader in member order, then the blocks that are no messages
//   word of a reader: the length of its block in bytes. For a message the highest bit is set;
//     otherwise the upper 32 bits are the offset of the block in the post
//
// An owner without messages returns at once. Other owners return when their messages are sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "engines/mpi/memory_rounds.hpp"
#include "engines/mpi/node_memory.hpp"
#include "engines/mpi/part_messages.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

class mpi_endpoint;

class varying_blocks {
 public:
  /// `of` has slots. `group`: its number (group_entry.hpp). `on_mismatch(mine, member, other)` is
  /// called if the digests differ. It must throw.
  varying_blocks(mpi_endpoint& ep, node_memory::collectives& of, std::uint64_t group,
                 std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch)
      : ep_(ep), of_(of), on_mismatch_(std::move(on_mismatch)), messages_(ep, group) {}

  /// Continues as far as possible without a wait. Returns whether the call is complete. Throws
  /// mismatch_error, or truncation_error, when the call is complete, if a block is shorter, or
  /// longer, than this member expects.
  bool advance(const call& c, memory_progress& p, bool overlaps);

 private:
  struct block {
    const std::byte* data;
    std::size_t bytes;
  };
  struct place {
    std::byte* data;
    std::size_t bytes;
  };
  static constexpr std::uint64_t as_message = std::uint64_t{1} << 63;
  static constexpr int offset_bits = 32;
  static constexpr std::uint64_t max_bytes_in_post = (std::uint64_t{1} << offset_bits) - 1;

  /// Whether the owner has a block for this reader, which may be empty.
  bool reads(const call& c, int reader, int owner) const noexcept;
  int readers_of(const call& c, int owner) const noexcept;
  /// The word of a reader in the post of an owner.
  std::size_t word_of(const call& c, int reader, int owner) const noexcept;
  /// What this member sends.
  block block_for(const call& c, int reader) const noexcept;
  /// Where this member puts the block of an owner.
  place place_of(const call& c, int owner) const noexcept;
  void copy_own(const call& c) const noexcept;
  bool post(const call& c, memory_progress& p);
  void send(const call& c, std::uint64_t n, int reader);
  /// Returns false while the message of the owner is incomplete.
  bool take(const call& c, memory_progress& p, int owner);
  [[noreturn]] void throw_wrong_length(const call& c, const memory_progress& p) const;

  mpi_endpoint& ep_;
  node_memory::collectives& of_;
  std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch_;
  part_messages<mpi_endpoint> messages_;
};

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
//
// gatherv, scatterv and alltoallv in the memory of a node. The lengths of the blocks are local: no
// member can compute how many rounds another one needs. So a call has one round. An owner, a member
// that has blocks for others, posts their lengths and as many blocks as fit in its line or slot.
// All other blocks follow as messages through the channels of the node (part_messages.hpp). The
// readers see in the post which way each block comes.
//
//   line: word 0, then the post if all of it fits; else word 1, and the slot has the post
//   post: a word for each reader in member order, then the blocks
//   word of a reader: the length of its block; the highest bit says that it comes as a message
//
// An owner returns when its messages have been received, or when it has none at once.
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
  /// `of` has slots. `group`: its number in the node. `on_mismatch(mine, member, other)` is called
  /// if the digests differ. It must throw.
  varying_blocks(mpi_endpoint& ep, node_memory::collectives& of, std::uint64_t group,
                 std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch)
      : ep_(ep), of_(of), on_mismatch_(std::move(on_mismatch)), messages_(ep, group) {}

  /// Continues as far as possible without a wait. Returns whether the call is complete. Throws
  /// mismatch_error if a block has another length than its reader expects.
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

  bool reads(const call& c, int reader, int owner) const noexcept;
  int readers_of(const call& c, int owner) const noexcept;
  /// The word of a reader in the post of an owner.
  std::size_t word_of(const call& c, int reader, int owner) const noexcept;
  block block_for(const call& c, int reader) const noexcept;
  place place_of(const call& c, int owner) const noexcept;
  void copy_own(const call& c) const noexcept;
  bool post(const call& c, memory_progress& p);
  bool take(const call& c, memory_progress& p, int owner);

  mpi_endpoint& ep_;
  node_memory::collectives& of_;
  std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch_;
  part_messages<mpi_endpoint> messages_;
};

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
//
// The memory that the ranks of a node share for their short collectives. Each rank divides its area
// into blocks and uses one block for each communicator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/mpi/node_segment.hpp"
#include "transport/shm/node_collectives.hpp"

namespace tutti::mpi {

class node_memory {
 public:
  using words = shm::wakeup_words<shm::process_memory>;
  using collectives = shm::node_collectives<shm::process_memory>;

  /// The longest operand of a communicator whose members all have a block with slots.
  static constexpr std::size_t slot_bytes = 4096;

  /// A block of this rank, as the other members of a communicator need to know it.
  struct block {
    std::int32_t number = -1;     // -1: none is free
    std::int32_t has_slots = 0;   // for operands of up to slot_bytes
    std::uint64_t sequence = 0;   // greater than all sequence numbers in the block
  };

  /// Collective over `node`, whose ranks share memory. Without `may_use` on any of the ranks, no
  /// rank has memory. Throws only errors of MPI itself.
  void open(MPI_Comm node, bool may_use);
  bool is_open() const noexcept { return segment_.is_open(); }
  /// The kind of memory, and why no better kind is in use; the same on all ranks.
  shm::memory_kind kind() const noexcept {
    return is_open() ? segment_.memory().kind() : shm::memory_kind::none;
  }
  const std::string& why_not_better() const noexcept { return segment_.why_not_better(); }

  /// The block that each rank has for the communicator of all ranks of the node.
  static constexpr block first_block{0, 1, 0};
  /// A block that no member of an earlier communicator reads any more.
  block take_block();
  /// `members`: the ranks of a communicator, by their numbers in the node. `blocks`: theirs.
  /// `member`: the number of this rank in the communicator. Null if a member has no block.
  std::unique_ptr<collectives> make(const std::vector<int>& members, const std::vector<block>& blocks,
                                    int member);
  /// Returns the block of a communicator whose calls this rank has finished. Others may still read
  /// it. `of` is null if another member had no block.
  void give_back(const block& mine, std::unique_ptr<collectives> of);

 private:
  struct used_block {
    block number;
    std::unique_ptr<collectives> last;  // null: the communicator did not use it
  };
  std::byte* memory_of(int rank, const block& b) const noexcept;

  node_segment segment_;
  shm::segment_part words_part_, slots_part_, lines_part_;
  std::optional<words> words_;
  int rank_ = 0;
  std::int32_t blocks_ = 0;         // of each rank
  std::int32_t fresh_ = 1;          // the first block that was never used
  std::vector<used_block> given_back_;
};

}  // namespace tutti::mpi

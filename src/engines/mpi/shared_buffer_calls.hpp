// SPDX-License-Identifier: Apache-2.0
//
// Long collectives whose buffers lie in arenas (transport/shm/shared_arena.hpp), so that all
// members of the communicator can read and write them. Then the call works as among threads
// (slices.hpp):
//
//   1. Each member posts the offsets of its buffers, and waits for those of all members.
//   2. If all buffers that the call needs are shared, each member makes its slice of the result in
//      the memory of the others. If not, the call goes on in rounds or by address.
//   3. Each member posts that it has finished, and waits for all members.
//   4. The members finish the sequence numbers of the rounds that they do not need.
//
// All members see the same offsets, so all decide alike in step 2. The exchange costs as much as a
// barrier. So it is made only in long calls, and only if a rank of the node has asked for such
// memory before the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "engines/mpi/memory_rounds.hpp"
#include "engines/mpi/node_memory.hpp"
#include "transport/shm/slices.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

class mpi_endpoint;

class shared_buffer_calls {
 public:
  /// The rounds of the steps 1 and 3.
  static constexpr std::uint64_t extra_rounds = 2;

  /// `on_mismatch(mine, member, other)` is called if the digests differ. It must throw.
  shared_buffer_calls(mpi_endpoint& ep, node_memory::collectives& of,
                      std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch);

  /// Whether the members of this call exchange offsets; the same on all members. `bytes`: of the
  /// operand or of a block; of an allgatherv, of all blocks.
  bool serves(collective what, std::size_t bytes) const noexcept;
  /// The shortest operand of such a call; at least 1.
  std::size_t min_bytes() const noexcept { return min_bytes_; }
  /// The same for the block of a kind with one block for each member.
  std::size_t min_block_bytes() const noexcept { return min_block_bytes_; }

  /// Continues as far as possible without a wait. Returns whether the steps are complete. Then
  /// p.rounds_left is 0 if the call is complete.
  bool advance(const call& c, memory_progress& p, bool overlaps);

 private:
  /// Where the buffers of a member lie in its arena.
  struct buffer_offsets {
    static constexpr std::uint64_t not_shared = ~std::uint64_t{0};
    std::uint64_t input = not_shared, output = not_shared;
    std::uint64_t in_place = 0;
  };
  buffer_offsets offsets_of(const call& c) const;
  bool post(memory_progress& p, const buffer_offsets* of, bool overlaps);
  bool all_have_posted(memory_progress& p);
  buffer_offsets posted_offsets(std::uint64_t number, int i) const;
  bool are_shared(const call& c, std::uint64_t number) const;
  void find_buffers(const call& c, std::uint64_t number);
  void work(const call& c);
  void end_step(memory_progress& p);
  void rethrow_failure(std::uint64_t end_of_call);

  mpi_endpoint& ep_;
  node_memory::collectives& of_;
  std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch_;
  std::size_t min_bytes_, min_block_bytes_;
  std::vector<std::pair<std::uint64_t, std::exception_ptr>> failures_;  // by the end of their calls
  std::vector<call> calls_;  // of the members, as this process sees their buffers
  std::vector<shm::published_call> published_;
};

}  // namespace tutti::mpi

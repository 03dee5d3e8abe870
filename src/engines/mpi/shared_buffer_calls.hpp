// SPDX-License-Identifier: Apache-2.0
//
// Long collectives whose buffers lie in arenas (transport/shm/shared_arena.hpp), so that all
// members of the communicator can read and write them. Then the call works as among threads
// (slices.hpp):
//
//   1. Each member posts the places of its buffers, and waits for those of all members.
//   2. If all buffers that the call needs are shared, each member makes its slice of the result in
//      the memory of the others. If not, the call goes on in rounds or by address.
//   3. Each member posts that it has finished, and waits for all members.
//
// All members see the same places, so all take the same way in step 2. The exchange of places costs
// as much as a barrier. So it is made only in long calls, and only if a rank of the node has said
// at the set-up that its program uses an arena.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "engines/mpi/memory_rounds.hpp"
#include "engines/mpi/node_memory.hpp"
#include "transport/shm/slices.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

class mpi_endpoint;

class shared_buffer_calls {
 public:
  /// The numbers that a call needs for the steps 1 and 3.
  static constexpr std::uint64_t numbers = 2;

  /// `on_mismatch(mine, member, other)` is called if the digests differ. It must throw.
  shared_buffer_calls(mpi_endpoint& ep, node_memory::collectives& of,
                      std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch);

  /// Whether the members of this call exchange places; the same on all members. `bytes`: of the
  /// operand or of a block; of an allgatherv, of all blocks.
  bool serves(collective what, std::size_t bytes) const noexcept;
  /// The least operand of such a call; at least 1.
  std::size_t min_bytes() const noexcept { return min_bytes_; }

  /// Continues as far as possible without a wait. Returns whether the steps are complete. Then
  /// p.rounds_left is 0 if the call is complete.
  bool advance(const call& c, memory_progress& p, bool overlaps);

 private:
  /// Where the buffers of a member lie in its arena.
  struct place {
    static constexpr std::uint64_t not_shared = ~std::uint64_t{0};
    std::uint64_t input = not_shared, output = not_shared;
    std::uint64_t in_place = 0;
  };
  place place_of(const call& c) const;
  bool post(memory_progress& p, const place* of, bool overlaps);
  bool all_have_posted(memory_progress& p);
  place posted_place(std::uint64_t number, int i) const;
  bool are_shared(const call& c, std::uint64_t number) const;
  void find_buffers(const call& c, std::uint64_t number);
  void work(const call& c);
  void end_step(memory_progress& p);

  mpi_endpoint& ep_;
  node_memory::collectives& of_;
  std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch_;
  std::size_t min_bytes_;
  std::vector<call> calls_;  // of the members, as this process sees their buffers
  std::vector<shm::published_call> published_;
};

}  // namespace tutti::mpi

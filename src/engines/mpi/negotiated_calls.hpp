// SPDX-License-Identifier: Apache-2.0
//
// Long collectives whose members negotiate how they make the call: they exchange what they know of
// it, and all choose the same way. If the buffers lie in arenas (transport/shm/shared_arena.hpp),
// all members of the communicator can read and write them. Then the call works as among threads
// (slices.hpp):
//
//   1. Each member posts the offsets of its buffers, and waits for those of all members.
//   2. If all buffers that the call needs are shared, each member makes its slice of the result in
//      the memory of the others. If not, the call goes on in rounds or by address.
//   3. Each member posts that it has finished, and waits for all members.
//   4. The members finish the sequence numbers of the rounds that they do not need.
//
// In step 1 the members of a measured call (memory_pieces.hpp) also post how long such calls have
// taken by address and in pieces (measured_times.hpp). If its buffers are not shared, the call
// takes the faster way. The two ways may need different numbers of rounds. So the members first
// finish the sequence numbers that the faster way does not need. This class leaves the rounds
// themselves to memory_collectives.
//
// All members see the same offsets and times, so all decide alike in step 2. The exchange costs as
// much as a barrier. So only long calls make it. Members look for their buffers in arenas only if a
// rank of the node has asked for such memory before the start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "engines/mpi/measured_times.hpp"
#include "engines/mpi/memory_rounds.hpp"
#include "engines/mpi/node_memory.hpp"
#include "transport/shm/slices.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

class mpi_endpoint;

class negotiated_calls {
 public:
  /// The rounds of the steps 1 and 3. A call whose buffers are not shared skips that of step 3.
  static constexpr std::uint64_t extra_rounds = 2;

  /// `on_mismatch(mine, member, other)` is called if the digests differ. It must throw.
  negotiated_calls(mpi_endpoint& ep, node_memory::collectives& of,
                   std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch);

  /// Whether the members of this call make the exchange; the same on all members. `bytes`: of the
  /// operand or of a block; of an allgatherv, of all blocks.
  bool serves(const call& c, std::size_t bytes) const noexcept {
    return looks_for_buffers(c.what, bytes) || is_measured(c, bytes);
  }
  /// Whether the call takes the faster way if its buffers are not shared.
  bool is_measured(const call& c, std::size_t bytes) const noexcept {
    return min_measured_ && detail::is_measured(c.what, bytes, c.in_place, of_.size(), *min_measured_);
  }
  /// serves() accepts no bcast or allreduce of a shorter operand. At least 1.
  std::size_t min_bytes() const noexcept;
  /// serves() accepts no call of a kind with one block for each member whose blocks are shorter. At
  /// least 1.
  std::size_t min_block_bytes() const noexcept;

  /// Continues as far as possible without a wait. Returns whether the steps are complete. If
  /// p.rounds_left is 0 then, the call is complete. Otherwise p.by_address is the way of the other
  /// rounds. `bytes`: as for serves().
  bool advance(const call& c, std::size_t bytes, memory_progress& p, bool overlaps);
  /// Called when a measured call is complete, if no other call was in progress meanwhile.
  void record(const call& c, std::size_t bytes, const memory_progress& p) noexcept;

 private:
  /// What a member posts: where its buffers lie in its arena, and its times.
  struct member_info {
    static constexpr std::uint64_t not_shared = ~std::uint64_t{0};
    std::uint64_t input = not_shared, output = not_shared;
    std::uint64_t in_place = 0;
    call_times times;
  };
  static_assert(sizeof(member_info) <= node_memory::collectives::inline_bytes);
  bool looks_for_buffers(collective what, std::size_t bytes) const noexcept;
  std::size_t shortest(std::size_t min_shared) const noexcept;
  bool choose_by_address(const memory_progress& p);
  member_info info_of(const call& c) const;
  bool skip(memory_progress& p, std::uint64_t left);
  bool post(memory_progress& p, const member_info* of, bool overlaps);
  bool all_have_posted(memory_progress& p);
  member_info posted_info(std::uint64_t number, int i) const;
  bool are_shared(const call& c, std::uint64_t number) const;
  void find_buffers(const call& c, std::uint64_t number);
  void work(const call& c);
  void end_step(memory_progress& p);
  void rethrow_failure(std::uint64_t end_of_call);

  mpi_endpoint& ep_;
  node_memory::collectives& of_;
  std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch_;
  bool shares_;  // calls look for buffers in arenas
  std::size_t min_shared_bytes_, min_shared_block_bytes_;
  std::optional<std::size_t> min_measured_;  // the least part; nothing: no call is measured
  measured_times times_;
  std::vector<call_times> posted_times_;
  std::vector<std::pair<std::uint64_t, std::exception_ptr>> failures_;  // by the end of their calls
  std::vector<call> calls_;  // of the members, as this process sees their buffers
  std::vector<shm::published_call> published_;
};

}  // namespace tutti::mpi

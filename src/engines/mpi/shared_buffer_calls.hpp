// SPDX-License-Identifier: Apache-2.0
//
// Long collectives whose members exchange first what they know of their buffers. The buffers may lie
// in arenas (transport/shm/shared_arena.hpp), so that all members of the communicator can read and
// write them. Then the call works as among threads (slices.hpp):
//
//   1. Each member posts the offsets of its buffers, and waits for those of all members.
//   2. If all buffers that the call needs are shared, each member makes its slice of the result in
//      the memory of the others. If not, the call goes on in rounds or by address.
//   3. Each member posts that it has finished, and waits for all members.
//   4. The members finish the sequence numbers of the rounds that they do not need.
//
// In step 1 the members also post how long such calls have taken by address and in pieces
// (measured_times.hpp). A call whose buffers are not shared takes the faster way. It finishes the
// numbers that it does not need before it goes by address.
//
// All members see the same offsets and times, so all decide alike in step 2. The exchange costs as
// much as a barrier. So it is made only in long calls. Offsets are exchanged only if a rank of the
// node has asked for such memory before the start.
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

class shared_buffer_calls {
 public:
  /// The rounds of the steps 1 and 3.
  static constexpr std::uint64_t extra_rounds = 2;

  /// `on_mismatch(mine, member, other)` is called if the digests differ. It must throw.
  shared_buffer_calls(mpi_endpoint& ep, node_memory::collectives& of,
                      std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch);

  /// Whether the members of this call exchange what they know; the same on all members. `bytes`: of
  /// the operand or of a block; of an allgatherv, of all blocks.
  bool serves(const call& c, std::size_t bytes) const noexcept {
    return looks_for_buffers(c.what, bytes) || is_measured(c, bytes);
  }
  /// Whether the call takes the faster way if its buffers are not shared.
  bool is_measured(const call& c, std::size_t bytes) const noexcept {
    return min_measured_ && detail::is_measured(c.what, bytes, of_.size(), *min_measured_) &&
           !(c.in_place && detail::overwrites_in_place(c.what));
  }
  /// The shortest operand of a bcast or an allreduce that serves() accepts; at least 1.
  std::size_t min_bytes() const noexcept;
  /// The shortest block of a kind with one block for each member; at least 1.
  std::size_t min_block_bytes() const noexcept;

  /// Continues as far as possible without a wait. Returns whether the steps are complete. Then
  /// p.rounds_left is 0 if the call is complete. `bytes`: as for serves().
  bool advance(const call& c, std::size_t bytes, memory_progress& p, bool overlaps);
  /// A measured call is complete that did not overlap others.
  void record(const call& c, std::size_t bytes, const memory_progress& p) noexcept;

 private:
  /// What a member posts: where its buffers lie in its arena, and its times.
  struct buffer_offsets {
    static constexpr std::uint64_t not_shared = ~std::uint64_t{0};
    std::uint64_t input = not_shared, output = not_shared;
    std::uint64_t in_place = 0;
    call_times times;
  };
  static_assert(sizeof(buffer_offsets) <= node_memory::collectives::inline_bytes);
  bool looks_for_buffers(collective what, std::size_t bytes) const noexcept;
  bool choose_by_address(const memory_progress& p);
  buffer_offsets offsets_of(const call& c) const;
  bool skip(memory_progress& p, std::uint64_t left);
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
  bool shares_;
  std::size_t min_shared_bytes_, min_shared_block_bytes_;
  std::optional<std::size_t> min_measured_;  // the least part; nothing: no call is measured
  measured_times times_;
  std::vector<call_times> posted_times_;
  std::vector<std::pair<std::uint64_t, std::exception_ptr>> failures_;  // by the end of their calls
  std::vector<call> calls_;  // of the members, as this process sees their buffers
  std::vector<shm::published_call> published_;
};

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
//
// The steps of the calls by address (memory_by_address.hpp) of a communicator in the memory of a
// node. A round: this member posts its address if it is an owner, takes its parts, and says so.
// After the last round it waits until its readers have finished it, whatever earlier calls they
// have under way.
//
// The kernel may refuse a read that it has permitted at the set-up. Then the reader asks its owners
// for messages from now on, and takes the part of each owner from a message. An owner serves such
// readers from its post until the end of the call.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "engines/mpi/memory_by_address.hpp"
#include "engines/mpi/memory_rounds.hpp"
#include "engines/mpi/node_memory.hpp"
#include "engines/mpi/part_messages.hpp"
#include "transport/shm/wait_interface.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

class mpi_endpoint;

class address_calls {
 public:
  /// `on_mismatch(mine, i, other)`: the digests of this member and of member i differ. It throws.
  address_calls(mpi_endpoint& ep, node_memory::collectives& of,
                std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch);

  /// Whether a call goes by address. `bytes`: of the operand or of a block; in an allgatherv, of
  /// all blocks. Depends only on what is equal on all members.
  bool serves(const call& c, std::size_t bytes) const noexcept {
    return bytes >= from_[static_cast<std::size_t>(c.what)] &&
           !(c.in_place && detail::overwrites_in_place(c.what));
  }
  static std::uint64_t rounds(collective what) noexcept { return what == collective::allreduce ? 2 : 1; }

  /// Continues as far as possible without a wait. Returns whether the call is complete.
  bool advance(const call& c, memory_progress& p, bool overlaps);

 private:
  enum class taken { yes, not_yet, refused };

  template <class Kind>
  bool advance_call(const call& c, memory_progress& p, bool overlaps);
  template <class Kind>
  bool post(const address_round& r, memory_progress& p, bool overlaps);
  template <class Kind>
  bool take(const address_round& r, memory_progress& p);
  template <class Kind>
  taken copy_parts(const address_round& r, memory_progress& p);
  template <class Kind>
  taken combine_parts(const address_round& r, memory_progress& p);
  template <class Kind>
  bool receive_and_copy(const address_round& r, memory_progress& p);
  template <class Kind>
  bool receive_and_combine(const address_round& r, memory_progress& p);
  template <class Kind>
  void copy_own(const address_round& r) const;
  template <class Kind>
  void send_parts(const address_round& r, std::uint64_t n);
  template <class Kind>
  void send_parts_of_rounds(address_round r, std::uint64_t first, std::uint64_t end);
  template <class Kind>
  bool readers_have_finished(const address_round& r, memory_progress& p, std::uint64_t first);
  bool has_posted(const memory_progress& p, int i);
  taken read(const memory_progress& p, int i, std::byte* to, std::size_t offset, std::size_t bytes);
  static shm::wait_site site(const call& c) noexcept;

  mpi_endpoint& ep_;
  node_memory::collectives& of_;
  std::function<void(std::uint64_t, int, std::uint64_t)> on_mismatch_;
  std::array<std::size_t, collective_names.size()> from_{};
  part_messages messages_;
  aligned_bytes scratch_;
  std::size_t scratch_bytes_ = 0;
};

}  // namespace tutti::mpi

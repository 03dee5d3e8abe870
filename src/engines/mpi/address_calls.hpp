// SPDX-License-Identifier: Apache-2.0
//
// The calls by address of a communicator: which calls go by address, and the environment of their
// steps (address_steps.hpp) in the engine.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "engines/mpi/address_steps.hpp"
#include "engines/mpi/memory_pieces.hpp"
#include "engines/mpi/memory_rounds.hpp"
#include "engines/mpi/node_memory.hpp"
#include "transport/shm/process_memory.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

class mpi_endpoint;

struct address_environment {
  using memory = shm::process_memory;
  using collectives = node_memory::collectives;
  using endpoint = mpi_endpoint;
  static constexpr std::size_t combined_piece_bytes = detail::combined_piece_bytes;

  mpi_endpoint& ep;
  /// Reads from the process of a rank of the node. Reports the first refusal.
  shm::remote_read read(int rank, void* to, std::uint64_t address, std::size_t bytes) const;
};

class address_calls {
 public:
  /// `number`: that of the group (group_entry.hpp). `on_mismatch(mine, i, other)`: the digests of
  /// this member and of member i differ. It throws.
  address_calls(mpi_endpoint& ep, node_memory::collectives& of, std::uint32_t number,
                address_steps<address_environment>::mismatch on_mismatch);

  /// Whether a call goes by address. `bytes`: of the operand or of a block; in an allgatherv, of
  /// all blocks. Depends only on what is equal on all members.
  bool serves(const call& c, std::size_t bytes) const noexcept {
    return detail::goes_by_address(c.what, bytes, c.in_place, from_[static_cast<std::size_t>(c.what)]);
  }
  /// The shortest of them.
  std::size_t min_bytes() const noexcept { return *std::min_element(from_.begin(), from_.end()); }
  static std::uint64_t rounds(collective what) noexcept { return what == collective::allreduce ? 2 : 1; }

  /// Continues as far as possible without a wait. Returns whether the call is complete.
  bool advance(const call& c, memory_progress& p, bool overlaps);

 private:
  std::array<std::size_t, collective_names.size()> from_{};
  address_steps<address_environment> steps_;
};

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
//
// The parts of calls by address that the kernel does not let a reader copy. The owner sends them as
// messages through the node's channels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <new>

#include "transport/shm/wait_interface.hpp"
#include "transport/transfer.hpp"

namespace tutti::mpi {

class mpi_endpoint;

/// Memory for operands of any element type.
struct free_aligned {
  void operator()(std::byte* memory) const noexcept { ::operator delete[](memory, std::align_val_t{64}); }
};
using aligned_bytes = std::unique_ptr<std::byte[], free_aligned>;
inline aligned_bytes allocate_aligned(std::size_t bytes) {
  return aligned_bytes(static_cast<std::byte*>(::operator new[](bytes, std::align_val_t{64})));
}

class part_messages {
 public:
  /// `group`: no other group of the node has it. It has 27 bits.
  part_messages(mpi_endpoint& ep, std::uint64_t group) noexcept;

  // `n`: the number of the round. `rank`: of the other member, in the node.

  /// Sends a part, unless it has been sent in this round.
  void send(std::uint64_t n, int rank, const std::byte* data, std::size_t bytes);
  /// Continues the sends, and all other messages of the node. A waiting owner must call it, because
  /// its readers wait for their parts.
  void progress();
  /// Whether all sends of the rounds `first` to `last` are complete. If so, forgets them.
  bool all_sent(std::uint64_t first, std::uint64_t last, const shm::wait_site& site);
  /// Begins or continues a receive. Returns whether it is complete. A round has one at a time.
  bool receive(std::uint64_t n, int rank, std::byte* to, std::size_t bytes, const shm::wait_site& site);
  /// Memory for operands of a round, until end(n).
  std::byte* operand(std::uint64_t n, std::size_t bytes);
  std::byte* result(std::uint64_t n, std::size_t bytes);
  void end(std::uint64_t n) noexcept;

 private:
  struct sent_part {
    std::uint64_t n;
    int rank;
    bool complete;
    detail::transfer state;
  };
  struct receiver {
    std::uint64_t n;
    bool under_way;
    aligned_bytes operand, result;
    detail::transfer state;
  };
  std::uint64_t tag(std::uint64_t n) const noexcept;
  receiver& receiver_of(std::uint64_t n);

  mpi_endpoint& ep_;
  std::uint64_t group_;
  std::deque<sent_part> sent_;
  std::deque<receiver> receivers_;
};

}  // namespace tutti::mpi

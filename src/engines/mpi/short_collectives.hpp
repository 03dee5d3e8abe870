// SPDX-License-Identifier: Apache-2.0
//
// Barriers, and short and medium broadcasts and allreduces, of a communicator whose members share a
// node. They use the node's memory and no message of MPI. Operands longer than a slot go in pieces,
// each as a call of node_collectives.hpp. All members begin the same native collectives in the
// same order, and whether one of them is served depends only on what is equal on all members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "engines/mpi/node_memory.hpp"
#include "transport/shm/wait_interface.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

class mpi_endpoint;

class short_collectives {
 public:
  short_collectives(mpi_endpoint& ep, const detail::group_name& name,
                    std::unique_ptr<node_memory::collectives> of)
      : ep_(ep), name_(name), of_(std::move(of)), piece_bytes_(of_ ? of_->max_bytes() : 0) {}
  ~short_collectives();
  short_collectives(const short_collectives&) = delete;
  short_collectives& operator=(const short_collectives&) = delete;

  /// False if no memory was left for the communicator.
  bool is_open() const noexcept { return of_ != nullptr; }
  bool serves(collective what, std::size_t bytes, std::size_t element_bytes) const noexcept {
    return is_open() && is_short_kind(what) &&
           (bytes <= piece_bytes_ || bytes <= max_bytes(what, element_bytes));
  }
  bool serves(const call& c) const noexcept {
    return serves(c.what, c.what == collective::barrier ? 0 : c.count * c.type.size, c.type.size);
  }
  static bool is_short_kind(collective what) noexcept {
    return what == collective::barrier || what == collective::bcast || what == collective::allreduce;
  }
  /// The longest operand that is served. Only if is_open().
  std::size_t max_bytes(collective what, std::size_t element_bytes) const noexcept {
    const bool in_pieces = piece_bytes_ >= node_memory::slot_bytes && element_bytes <= piece_bytes_;
    return in_pieces ? detail::max_bytes_in_node_memory(what, of_->size()) : piece_bytes_;
  }
  std::size_t max_count(collective what, std::size_t element_bytes) const noexcept {
    return max_bytes(what, element_bytes) / element_bytes;
  }

  // --- blocking calls

  // They throw mismatch_error if another member makes another call, and what mpi_endpoint::pause()
  // throws.
  void barrier();
  void bcast(void* data, std::size_t bytes, int root);
  void allreduce(const void* input, void* output, std::size_t count, std::size_t element_bytes,
                 combine_function combine, void* state);
  void run(const call& c);

  // --- calls in steps

  struct progress {
    std::uint64_t number = 0;  // of the piece that is under way
    std::size_t done = 0;      // elements of an allreduce, or bytes of a bcast
    int next = 0;              // the first member that is not known to have posted
    bool posted = false;
  };
  progress begin(const call& c) noexcept { return {of_->begin(piece_count(c)), 0, 0, false}; }
  /// Continues as far as possible without a wait. Returns whether the call is complete.
  bool advance(const call& c, progress& p);
  /// The same, or waits if `blocking`.
  bool finish(const call& c, progress& p, bool blocking, const shm::wait_site& site);

 private:
  class waiter;
  /// The elements of an allreduce, or the bytes of a bcast, in one piece.
  std::size_t piece_of(collective what, std::size_t element_bytes) const noexcept {
    return what == collective::allreduce ? piece_bytes_ / element_bytes : piece_bytes_;
  }
  std::uint64_t piece_count(const call& c) const noexcept;
  bool advance_piece(const call& c, progress& p, std::size_t piece);
  [[noreturn]] void throw_mismatch(std::uint64_t mine, int member, std::uint64_t other) const;
  shm::wait_site site(const char* operation) const noexcept;

  mpi_endpoint& ep_;
  detail::group_name name_;
  std::unique_ptr<node_memory::collectives> of_;
  std::size_t piece_bytes_;  // the longest operand of one piece
};

}  // namespace tutti::mpi

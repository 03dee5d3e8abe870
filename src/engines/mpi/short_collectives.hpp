// SPDX-License-Identifier: Apache-2.0
//
// Barriers, and short broadcasts and allreduces, of a communicator whose members share a node. They
// use the node's memory and no message of MPI. All members begin the same native collectives in the
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
      : ep_(ep), name_(name), of_(std::move(of)), max_bytes_(of_ ? of_->max_bytes() : 0) {}
  ~short_collectives();
  short_collectives(const short_collectives&) = delete;
  short_collectives& operator=(const short_collectives&) = delete;

  /// False if no memory was left for the communicator.
  bool is_open() const noexcept { return of_ != nullptr; }
  bool serves(collective what, std::size_t bytes) const noexcept {
    return is_open() && is_short_kind(what) && bytes <= max_bytes_;
  }
  bool serves(const call& c) const noexcept {
    return serves(c.what, c.what == collective::barrier ? 0 : c.count * c.type.size);
  }
  static bool is_short_kind(collective what) noexcept {
    return what == collective::barrier || what == collective::bcast || what == collective::allreduce;
  }
  std::size_t max_bytes() const noexcept { return max_bytes_; }
  /// The largest number of elements of a call that is served. Only if is_open().
  std::size_t max_count(std::size_t element_bytes) const noexcept { return max_bytes_ / element_bytes; }

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
    std::uint64_t number = 0;
    int next = 0;  // the first member that is not known to have posted
    bool posted = false;
  };
  progress begin() noexcept { return {of_->begin(), 0, false}; }
  /// Continues as far as possible without a wait. Returns whether the call is complete.
  bool advance(const call& c, progress& p);
  /// The same, or waits if `blocking`.
  bool finish(const call& c, progress& p, bool blocking, const shm::wait_site& site);

 private:
  class waiter;
  [[noreturn]] void throw_mismatch(std::uint64_t mine, int member, std::uint64_t other) const;
  shm::wait_site site(const char* operation) const noexcept;

  mpi_endpoint& ep_;
  detail::group_name name_;
  std::unique_ptr<node_memory::collectives> of_;
  std::size_t max_bytes_;
};

}  // namespace tutti::mpi

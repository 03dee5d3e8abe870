// SPDX-License-Identifier: Apache-2.0
//
// Barriers, and short broadcasts and allreduces, of a communicator whose members share a node. They
// use the node's memory and no message of MPI.
//
// A communicator makes them in the order of the program's blocking calls. So this class does not
// serve nonblocking calls, nor the inner calls of compositions. Whether it serves a call depends
// only on what is equal on all members.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "engines/mpi/node_memory.hpp"
#include "transport/shm/wait_interface.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

class mpi_endpoint;

class short_collectives {
 public:
  /// `mine`: the block of this rank in `of`.
  short_collectives(mpi_endpoint& ep, node_memory& memory, node_memory::block mine,
                    std::unique_ptr<node_memory::collectives> of)
      : ep_(ep), memory_(memory), block_(mine), of_(std::move(of)), max_bytes_(of_->max_bytes()) {}
  ~short_collectives() { memory_.give_back(block_, std::move(of_)); }
  short_collectives(const short_collectives&) = delete;
  short_collectives& operator=(const short_collectives&) = delete;

  bool serves(const call& c) const noexcept {
    return c.what == collective::barrier ||
           ((c.what == collective::bcast || c.what == collective::allreduce) &&
            c.count <= max_count(c.type.size));
  }
  /// The largest number of elements of a call that is served.
  std::size_t max_count(std::size_t element_bytes) const noexcept { return max_bytes_ / element_bytes; }

  /// Each waits in memory. They throw mismatch_error if another member makes another call, and
  /// what mpi_endpoint::pause() throws.
  void barrier();
  void bcast(void* data, std::size_t bytes, int root);
  void allreduce(const void* input, void* output, std::size_t count, std::size_t element_bytes,
                 combine_function combine, void* state);
  void run(const call& c);

  /// A call of a rank that progresses other operations meanwhile.
  struct progress {
    enum class phase : std::uint8_t { not_posted, posted, complete } now = phase::not_posted;
    int next = 0;  // the first member that is not known to have posted
  };
  /// Continues as far as possible without a wait. Returns whether the call is complete.
  bool advance(const call& c, progress& p);

 private:
  class waiter;
  static std::uint64_t digest(collective what, std::size_t bytes, int root) noexcept {
    return static_cast<std::uint64_t>(what) | static_cast<std::uint64_t>(bytes) << 8 |
           static_cast<std::uint64_t>(root) << 32;
  }
  [[noreturn]] void throw_mismatch(std::uint64_t mine, int member, std::uint64_t other) const;
  shm::wait_site site(const char* operation) const noexcept;
  void run_in_steps(const call& c);

  mpi_endpoint& ep_;
  node_memory& memory_;
  node_memory::block block_;
  std::unique_ptr<node_memory::collectives> of_;
  std::size_t max_bytes_;
};

}  // namespace tutti::mpi

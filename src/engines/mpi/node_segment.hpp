// SPDX-License-Identifier: Apache-2.0
//
// The segment of the ranks of a node. They agree over MPI on the best kind of memory that works for
// all of them: a memfd, a file in /dev/shm, MPI_Win_allocate_shared, or none.
#pragma once

#include <string>

#include "engines/mpi/mpi_base.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/segment_layout.hpp"

namespace tutti::mpi {

class node_segment {
 public:
  node_segment() = default;
  node_segment(const node_segment&) = delete;
  node_segment& operator=(const node_segment&) = delete;

  /// Collective over `node`, whose ranks share memory; sets it to return errors. Opens the segment
  /// on all ranks or on none. `best` is the first kind that is tried; if the ranks differ, the last
  /// of theirs. A node of one rank has no segment. Throws only errors of MPI itself.
  void open(MPI_Comm node, const shm::segment_layout& layout,
            shm::memory_kind best = shm::memory_kind::memfd);
  /// Unmaps the segment. Frees no window of MPI; neither does the destructor.
  void close() noexcept;
  /// Collective over the ranks of the node. Also frees the window of MPI.
  void close_together() noexcept;

  bool is_open() const noexcept { return memory_.is_open(); }
  shm::segment& memory() noexcept { return memory_; }
  const shm::segment& memory() const noexcept { return memory_; }
  /// Why no better kind of memory is in use; the same on all ranks. Empty for the best one.
  const std::string& why_not_better() const noexcept { return why_not_better_; }

 private:
  std::string attempt(shm::memory_kind kind, const shm::segment_layout& layout);
  std::string attach(shm::memory_kind kind, const shm::segment_layout& layout);
  std::string attach_window(const shm::segment_layout& layout);
  std::string first_error_of_all(const std::string& why);

  MPI_Comm node_ = MPI_COMM_NULL;  // during open()
  int rank_ = 0, size_ = 1;
  shm::segment memory_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::string why_not_better_;
};

}  // namespace tutti::mpi

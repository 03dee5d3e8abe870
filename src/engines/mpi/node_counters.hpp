// SPDX-License-Identifier: Apache-2.0
//
// A counter for each rank of a node, in shared memory. Any rank of the node may increment it. Its
// rank reads it by one load, whereas a probe of MPI would slow down each call. The memory also
// holds which rank of the node reports the failure of the job. A handler of exit() may not call MPI
// to agree on that rank.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "engines/mpi/mpi_base.hpp"

namespace tutti::mpi {

class node_counters {
 public:
  using counter = std::atomic<std::uint32_t>;
  static_assert(counter::is_always_lock_free);

  node_counters() = default;
  ~node_counters();
  node_counters(const node_counters&) = delete;
  node_counters& operator=(const node_counters&) = delete;

  /// Collective over `node`, whose ranks share memory. Opens the counters on all of its ranks or on
  /// none.
  void open(MPI_Comm node);
  bool is_open() const noexcept { return memory_ != nullptr; }
  /// `rank` is that in `node`. Only if is_open().
  counter& of(int rank) noexcept { return memory_[rank].value; }
  /// Whether the caller is the first rank of the node that calls this. True for all ranks if the
  /// counters are not open.
  bool claim_report() noexcept {
    return memory_ == nullptr || memory_[ranks_].value.exchange(1, std::memory_order_relaxed) == 0;
  }

 private:
  struct alignas(64) line {
    counter value;
  };
  line* memory_ = nullptr;  // of the ranks, and one more for claim_report()
  int ranks_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
//
// The memory that the ranks of a node share, for collectives of groups and for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/mpi/memory_pieces.hpp"
#include "engines/mpi/mpi_offers.hpp"
#include "engines/mpi/node_segment.hpp"
#include "transport/shm/group_memory.hpp"
#include "transport/shm/node_collectives.hpp"
#include "transport/shm/process_messages.hpp"

namespace tutti::mpi {

/// How far a rank lets the ranks of its node share memory. The least of all ranks counts.
enum class memory_use : std::uint8_t {
  off,
  cells,  ///< all data pass through the shared memory
  copy,   ///< long data are copied from the memory of their owner
};

class node_memory {
 public:
  using collectives = shm::node_collectives<shm::process_memory>;

  /// Before MPI_Init, which starts threads: the kernel registers a process of one thread for barriers
  /// at once, but needs 20 ms for others. May be omitted.
  static void prepare_process() noexcept { shm::process_memory::register_for_barriers(); }
  /// Collective over `node`, whose ranks share memory. Throws only errors of MPI itself.
  void open(MPI_Comm node, memory_use requested);
  bool is_open() const noexcept { return segment_.is_open(); }
  std::size_t bytes() const noexcept { return segment_.memory().bytes(); }
  /// The kind of memory, and why no better kind is in use; the same on all ranks.
  shm::memory_kind kind() const noexcept { return segment_.memory().kind(); }
  const std::string& why_not_better() const noexcept { return segment_.why_not_better(); }

  /// Whether all ranks may read the memory of each other; the same on all ranks.
  bool may_copy() const noexcept { return may_copy_; }
  /// Why they do not; the same on all ranks. Empty if they do.
  const std::string& why_not_copy() const noexcept { return why_not_copy_; }
  /// The process of another rank, as this process names it.
  int pid(int rank) const noexcept { return pids_[static_cast<std::size_t>(rank)]; }
  /// The shortest call by address (memory_pieces.hpp).
  std::size_t min_bytes_by_address(collective what, bool oversubscribed) const noexcept;
  /// For tests: another limit of all kinds, the same on all ranks, for groups that are opened
  /// later.
  void set_min_bytes_by_address(std::size_t bytes) noexcept { min_bytes_by_address_ = bytes; }
  /// For tests: the number of the first call of groups that are opened later, the same on all
  /// ranks. All members open the group and pass a barrier before its first call.
  void set_first_call(std::uint64_t number) noexcept { first_call_ = number; }
  /// The calls of this rank by address.
  std::uint64_t calls_by_address() const noexcept { return calls_by_address_; }
  void count_call_by_address() noexcept { ++calls_by_address_; }
  /// Prints once that the kernel has refused a read. `reader`, `owner`: ranks of the job.
  void report_refusal(int reader, int owner, int error) noexcept;

  /// The collectives of a group, for its member number `member`. `members`: their numbers in the
  /// node. Null, on all members, if no memory is left. Only if is_open().
  std::unique_ptr<collectives> enter(const detail::group_name& name, const std::vector<int>& members,
                                     int member);
  /// A number of 27 bits that no other open group has. The same on all members.
  std::uint64_t number_of(const collectives& of) const noexcept;
  /// By each member that has entered, after its last call.
  void leave(const detail::group_name& name) noexcept { groups_->leave(name); }
  shm::segment& segment() noexcept { return segment_.memory(); }
  /// Between the ranks of the node. Only if is_open().
  shm::process_messages& messages() noexcept { return *messages_; }

 private:
  void agree_on_copies(MPI_Comm node, memory_use requested, int rank, int size);

  node_segment segment_;
  bool may_copy_ = false, refusal_reported_ = false;
  std::string why_not_copy_;
  std::vector<int> pids_;  // 0: this rank, or one in another PID namespace
  std::optional<std::size_t> min_bytes_by_address_;
  std::uint64_t calls_by_address_ = 0, first_call_ = 0;
  const std::byte* memory_of_groups_ = nullptr;
  std::size_t slot_bytes_ = 0;  // of groups with large blocks
  std::optional<shm::process_messages> messages_;
  std::optional<shm::group_memory> groups_;
};

}  // namespace tutti::mpi

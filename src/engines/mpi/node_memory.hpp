// SPDX-License-Identifier: Apache-2.0
//
// The memory that the ranks of a node share: messages, and the table of groups with the memory for
// their collectives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/mpi/memory_pieces.hpp"
#include "engines/mpi/memory_use.hpp"
#include "engines/mpi/mpi_offers.hpp"
#include "engines/mpi/node_segment.hpp"
#include "transport/shm/group_memory.hpp"
#include "transport/shm/node_collectives.hpp"
#include "transport/shm/process_messages.hpp"
#include "transport/shm/shared_arena.hpp"

namespace tutti::mpi {

class node_memory {
 public:
  using collectives = shm::node_collectives<shm::process_memory>;

  /// Before MPI_Init, which starts threads: the kernel registers a process of one thread for
  /// barriers at once, but needs 20 ms for others. May be omitted.
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
  /// Whether calls look for buffers in arenas (negotiated_calls.hpp); the same on all ranks.
  bool shares_buffers() const noexcept { return shares_buffers_; }
  /// Why they do not; the same on all ranks. Empty if they do.
  const std::string& why_not_buffers() const noexcept { return why_not_buffers_; }
  /// The operands of such a call have at least this many bytes, in total on a member.
  std::size_t min_bytes_in_shared_buffers() const noexcept { return min_bytes_in_shared_buffers_; }
  /// For tests: another value, the same on all ranks, for groups that are opened later.
  void set_min_bytes_in_shared_buffers(std::size_t bytes) noexcept { min_bytes_in_shared_buffers_ = bytes; }
  /// The calls of this rank in shared buffers.
  std::uint64_t calls_in_buffers() const noexcept { return calls_in_buffers_; }
  void count_call_in_buffers() noexcept { ++calls_in_buffers_; }
  /// Before this rank posts a place in its arena. False: it has none that others can map.
  bool publish_arena() noexcept;
  /// The arena of another rank, which has posted a place in it for a call. Throws engine_error if
  /// it cannot be mapped.
  std::byte* arena_of(int rank, const call& c);
  /// The process of another rank, as this process names it.
  int pid(int rank) const noexcept { return pids_[static_cast<std::size_t>(rank)]; }
  /// The shortest call by address (memory_pieces.hpp).
  std::size_t min_bytes_by_address(collective what, bool oversubscribed) const noexcept;
  /// For tests: another limit of all kinds, the same on all ranks, for groups that are opened
  /// later. No call is measured then.
  void set_min_bytes_by_address(std::size_t bytes) noexcept {
    min_bytes_by_address_ = bytes;
    min_measured_part_bytes_.reset();
  }
  /// The least part of calls that are measured (memory_pieces.hpp). Empty: no call is measured.
  std::optional<std::size_t> min_measured_part_bytes(bool oversubscribed) const noexcept {
    return may_copy_ && (!oversubscribed || measures_without_cores_) ? min_measured_part_bytes_
                                                                     : std::nullopt;
  }
  /// For tests: another value, the same on all ranks, for groups that are opened later. Calls are
  /// then measured also without a core for each rank.
  void set_min_measured_part_bytes(std::size_t bytes) noexcept {
    min_measured_part_bytes_ = bytes;
    measures_without_cores_ = true;
  }
  /// For tests: the number of the first call of groups that are opened later, the same on all
  /// ranks. All members open the group and pass a barrier before its first call.
  void set_first_call(std::uint64_t number) noexcept { first_call_ = number; }
  /// The calls of this rank by address.
  std::uint64_t calls_by_address() const noexcept { return calls_by_address_; }
  void count_call_by_address() noexcept { ++calls_by_address_; }
  /// The allreduces of this rank whose operands a front end has combined (line_exchange.hpp).
  std::uint64_t exchanges_in_lines() const noexcept { return exchanges_in_lines_; }
  void count_exchange_in_lines() noexcept { ++exchanges_in_lines_; }
  /// Prints once that the kernel has refused a read. `reader`, `owner`: ranks of the job.
  void report_refusal(int reader, int owner, int error) noexcept;
  /// Prints that the node has no numbers left for groups. One rank of the node calls it.
  static void report_full_table() noexcept;

  // --- only if is_open()

  /// Of this rank in the node.
  int rank() const noexcept { return rank_; }
  int ranks() const noexcept { return static_cast<int>(pids_.size()); }
  /// The table of groups (group_entry.hpp).
  shm::group_memory& groups() noexcept { return *groups_; }
  /// The collectives of a group that this rank has entered, for its member number `member`.
  /// `members`: their ranks in the node. Null, on all members, if no memory is left.
  std::unique_ptr<collectives> collectives_of(const shm::group_memory::membership& group,
                                              const std::vector<int>& members, int member);
  shm::segment& segment() noexcept { return segment_.memory(); }
  /// Between the ranks of the node.
  shm::process_messages& messages() noexcept { return *messages_; }

 private:
  int may_access(memory_use required, memory_use requested, bool (*may)(int pid) noexcept) const;
  void agree(MPI_Comm node, memory_use requested);

  node_segment segment_;
  bool may_copy_ = false, refusal_reported_ = false, lack_reported_ = false;
  std::string why_not_copy_;
  std::vector<int> pids_;  // 0: this rank, or one in another PID namespace
  std::optional<std::size_t> min_bytes_by_address_;
  std::optional<std::size_t> min_measured_part_bytes_ = detail::min_measured_part_bytes;
  bool measures_without_cores_ = false;
  std::uint64_t calls_by_address_ = 0, exchanges_in_lines_ = 0, first_call_ = 0;
  bool shares_buffers_ = false, arena_published_ = false;
  std::string why_not_buffers_;
  std::size_t min_bytes_in_shared_buffers_ = detail::min_bytes_in_shared_buffers;
  std::uint64_t calls_in_buffers_ = 0;
  shm::segment_part arenas_;
  int rank_ = 0;                                            // in the node
  std::vector<std::unique_ptr<shm::mapped_arena>> mapped_;  // by rank; null: not mapped so far
  std::size_t slot_bytes_ = 0;                              // of groups with large blocks
  bool slots_have_pages_ = true;                            // with their group
  std::optional<shm::process_messages> messages_;
  std::optional<shm::group_memory> groups_;
};

}  // namespace tutti::mpi

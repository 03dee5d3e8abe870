// SPDX-License-Identifier: Apache-2.0
//
// The memory that the ranks of a node share, for collectives of groups and for messages.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engines/mpi/mpi_offers.hpp"
#include "engines/mpi/node_segment.hpp"
#include "transport/shm/group_memory.hpp"
#include "transport/shm/node_collectives.hpp"
#include "transport/shm/process_messages.hpp"

namespace tutti::mpi {

class node_memory {
 public:
  using collectives = shm::node_collectives<shm::process_memory>;

  /// Collective over `node`, whose ranks share memory. If `may_use` is false on one of them, no
  /// rank has memory. Throws only errors of MPI itself.
  void open(MPI_Comm node, bool may_use);
  bool is_open() const noexcept { return segment_.is_open(); }
  std::size_t bytes() const noexcept { return segment_.memory().bytes(); }
  /// The kind of memory, and why no better kind is in use; the same on all ranks.
  shm::memory_kind kind() const noexcept { return segment_.memory().kind(); }
  const std::string& why_not_better() const noexcept { return segment_.why_not_better(); }

  /// The collectives of a group, for its member number `member`. `members`: their numbers in the
  /// node. Null, on all members, if no memory is left. Only if is_open().
  std::unique_ptr<collectives> enter(const detail::group_name& name, const std::vector<int>& members,
                                     int member);
  /// By each member that has entered, after its last call.
  void leave(const detail::group_name& name) noexcept { groups_->leave(name); }
  shm::segment& segment() noexcept { return segment_.memory(); }
  /// Between the ranks of the node. Only if is_open().
  shm::process_messages& messages() noexcept { return *messages_; }

 private:
  node_segment segment_;
  std::size_t slot_bytes_ = 0;  // of groups with large blocks
  std::optional<shm::process_messages> messages_;
  std::optional<shm::group_memory> groups_;
};

}  // namespace tutti::mpi

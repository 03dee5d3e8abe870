// SPDX-License-Identifier: Apache-2.0
//
// This rank's entry of a group, or of a communicator, in the table of its node
// (transport/shm/group_memory.hpp). The constructor enters, and the destructor leaves. A group
// enters with its first message to or from another rank of the node. Groups and communicators enter
// with the first collective that may use memory of the node. All others never enter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/group/group_name.hpp"
#include "engines/mpi/node_memory.hpp"
#include "engines/mpi/node_messages.hpp"

namespace tutti::mpi {

static_assert(node_messages::id_of_group(shm::group_memory::max_number) < std::uint32_t{1} << 30);

class group_entry {
 public:
  /// `memory` is open, and outlives this object. `name`: the same on all members; no other group
  /// has it.
  group_entry(node_memory& memory, const detail::group_name& name)
      : memory_(memory),
        sent_to_(new bool[static_cast<std::size_t>(memory.ranks())]()),
        entered_(memory.groups().enter(name, memory.rank())) {
    if (entered_.closes) node_memory::report_full_table();
  }
  ~group_entry() {
    memory_.groups().leave(entered_, memory_.rank(),
                           {sent_to_.get(), static_cast<std::size_t>(memory_.ranks())});
  }
  group_entry(const group_entry&) = delete;
  group_entry& operator=(const group_entry&) = delete;

  /// The number of the group on this node, in 27 bits; 0, on all members, if the table was full.
  std::uint32_t number() const noexcept { return entered_.number; }
  /// Called before a message with this number is sent to a rank of the node.
  void note_message_to(int rank) noexcept { sent_to_[static_cast<std::size_t>(rank)] = true; }
  /// For the member number `member`, see node_memory::collectives_of().
  std::unique_ptr<node_memory::collectives> collectives(const std::vector<int>& members, int member) const {
    return memory_.collectives_of(entered_, members, member);
  }

 private:
  node_memory& memory_;
  std::unique_ptr<bool[]> sent_to_;  // by rank of the node
  shm::group_memory::membership entered_;
};

}  // namespace tutti::mpi

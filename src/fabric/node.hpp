// SPDX-License-Identifier: Apache-2.0
//
// The ranks that share memory, and what they share: channels between pairs, teams of groups and postboxes,
// each made when first used. No p x p table anywhere.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "fabric/channel.hpp"
#include "fabric/postbox.hpp"
#include "fabric/team.hpp"
#include "group/group.hpp"
#include "group/name.hpp"

namespace tutti::fabric {

class node {
 public:
  /// worker_of[r] is the thread that runs rank r. Bells: one for each rank, told by writers of the same
  /// worker, and one for each worker, told by writers of others.
  node(std::vector<int> worker_of, ringer& rings);

  /// Numbers from here on are of groups that enter_group() numbers; contexts have 40 bits.
  static constexpr std::uint64_t first_group = std::uint64_t{1} << 39;

  int size() const noexcept { return static_cast<int>(worker_of_.size()); }
  int workers() const noexcept { return workers_; }
  int worker_of(int rank) const noexcept { return worker_of_[static_cast<std::size_t>(rank)]; }
  doorbell& rank_bell(int rank) noexcept { return rank_bells_[static_cast<std::size_t>(rank)]; }
  doorbell& worker_bell(int worker) noexcept { return worker_bells_[static_cast<std::size_t>(worker)]; }

  channel& between(int from, int to);

  /// The team of a group, the same object for all its members. `context` tells groups apart.
  std::shared_ptr<team> team_of(std::uint64_t context, const group& members);
  /// A member is done with it; when all are, it is forgotten.
  void leave_team(std::uint64_t context, const group& members, std::shared_ptr<team> mine) noexcept;

  /// The number of a group that its members make without a message, the same for all who ask by its name. A
  /// member asks once, and leaves once; when all have, the number is forgotten. A group that some members
  /// never use keeps its number for as long as the node stands.
  std::uint64_t enter_group(const group_name& name);
  void leave_group(const group_name& name, int size) noexcept;

  /// Where mail to a rank waits, on one communicator: the same object for all who ask, until close_postbox().
  std::shared_ptr<postbox> postbox_of(std::uint64_t context, int rank);
  /// The rank has left the communicator; what still stands in the postbox goes when the last sender has left.
  void close_postbox(std::uint64_t context, int rank) noexcept;
  /// The letters that a rank sends.
  letter_store& letters_of(int rank) noexcept { return letters_[static_cast<std::size_t>(rank)]; }
  void ring(doorbell& bell) noexcept {
    if (bell.armed.load(std::memory_order_relaxed) != 0) rings_.ring(bell);
  }

 private:
  struct inbox {
    std::mutex lock;
    std::unordered_map<int, std::unique_ptr<channel>> from;
    std::unordered_map<std::uint64_t, std::shared_ptr<postbox>> mail;  // by context
  };

  std::vector<int> worker_of_;
  int workers_;
  ringer& rings_;
  std::unique_ptr<doorbell[]> rank_bells_, worker_bells_;
  std::unique_ptr<letter_store[]> letters_;  // before the postboxes, from which letters come back
  std::unique_ptr<inbox[]> inboxes_;
  struct named_group {
    std::uint64_t number;
    int left = 0;  // members that are done with it
  };
  std::mutex groups_lock_;
  std::unordered_map<group_name, named_group, group_name::hash> groups_;
  std::uint64_t next_group_ = first_group;
  std::mutex teams_lock_;
  std::map<std::pair<std::uint64_t, int>, std::weak_ptr<team>> teams_;  // context, job's rank of member 0
};

}  // namespace tutti::fabric

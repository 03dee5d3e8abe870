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

#include "base/group/group_name.hpp"
#include "base/group/rank_list.hpp"
#include "transport/shm/channel.hpp"
#include "transport/shm/direct_collectives.hpp"
#include "transport/shm/p2p_queue.hpp"

namespace tutti::shm {

class node {
 public:
  /// worker_of[r] is the thread that runs rank r. Bells: one for each rank, told by writers of the same
  /// worker, and one for each worker, told by writers of others.
  node(std::vector<int> worker_of, waker& rings);

  /// Numbers from here on are of groups that enter_group() numbers; contexts have 40 bits.
  static constexpr std::uint64_t first_group = std::uint64_t{1} << 39;

  int size() const noexcept { return static_cast<int>(worker_of_.size()); }
  int workers() const noexcept { return workers_; }
  int worker_of(int rank) const noexcept { return worker_of_[static_cast<std::size_t>(rank)]; }
  wakeup_flag& rank_wakeup(int rank) noexcept { return rank_wakeups_[static_cast<std::size_t>(rank)]; }
  wakeup_flag& worker_wakeup(int worker) noexcept {
    return worker_wakeups_[static_cast<std::size_t>(worker)];
  }

  channel& between(int from, int to);

  /// The team of a group, the same object for all its members. `context` tells groups apart.
  std::shared_ptr<direct_collectives> direct_collectives_of(std::uint64_t context, const group& members);
  /// A member is done with it; when all are, it is forgotten.
  void leave_direct_collectives(std::uint64_t context, const group& members,
                                std::shared_ptr<direct_collectives> mine) noexcept;

  /// The number of a group that its members make without a message, the same for all who ask by its name. A
  /// member asks once, and leaves once; when all have, the number is forgotten. A group that some members
  /// never use keeps its number for as long as the node stands.
  std::uint64_t enter_group(const group_name& name);
  void leave_group(const group_name& name, int size) noexcept;

  /// Where mail to a rank waits, on one communicator: the same object for all who ask, until
  /// close_p2p_queue().
  std::shared_ptr<p2p_queue> p2p_queue_of(std::uint64_t context, int rank);
  /// The rank has left the communicator; what still stands in the postbox goes when the last sender has left.
  void close_p2p_queue(std::uint64_t context, int rank) noexcept;
  /// The letters that a rank sends.
  message_pool& message_pool_of(int rank) noexcept { return pools_[static_cast<std::size_t>(rank)]; }
  void ring(wakeup_flag& wakeup) noexcept {
    if (wakeup.armed.load(std::memory_order_relaxed) != 0) rings_.ring(wakeup);
  }

 private:
  struct inbox {
    std::mutex lock;
    std::unordered_map<int, std::unique_ptr<channel>> from;
    std::unordered_map<std::uint64_t, std::shared_ptr<p2p_queue>> p2p;  // by context
  };

  std::vector<int> worker_of_;
  int workers_;
  waker& rings_;
  std::unique_ptr<wakeup_flag[]> rank_wakeups_, worker_wakeups_;
  std::unique_ptr<message_pool[]> pools_;  // before the postboxes, from which letters come back
  std::unique_ptr<inbox[]> inboxes_;
  struct named_group {
    std::uint64_t number;
    int left = 0;  // members that are done with it
  };
  std::mutex groups_lock_;
  std::unordered_map<group_name, named_group, group_name::hash> groups_;
  std::uint64_t next_group_ = first_group;
  std::mutex direct_collectives_lock_;
  std::map<std::pair<std::uint64_t, int>, std::weak_ptr<direct_collectives>>
      direct_collectives_;  // context, job's rank of member 0
};

}  // namespace tutti::shm

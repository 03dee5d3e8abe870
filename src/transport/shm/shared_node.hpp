// SPDX-License-Identifier: Apache-2.0
//
// The ranks that share memory, and their shared objects: channels between pairs, direct collectives
// of groups, message queues. Each object is made on first use. There is no p x p table.
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

using namespace tutti::detail;

class node {
 public:
  /// worker_of[r] is the thread that runs rank r. Each rank has a wakeup flag for writers on the
  /// same worker. Each worker has one for writers on other workers.
  node(std::vector<int> worker_of, waker& w);

  /// Ids from here on belong to groups of enter_group(). Contexts have 40 bits.
  static constexpr std::uint64_t first_group = std::uint64_t{1} << 39;

  int size() const noexcept { return static_cast<int>(worker_of_.size()); }
  int workers() const noexcept { return workers_; }
  int worker_of(int rank) const noexcept { return worker_of_[static_cast<std::size_t>(rank)]; }
  wakeup_flag& rank_wakeup(int rank) noexcept { return rank_wakeups_[static_cast<std::size_t>(rank)]; }
  wakeup_flag& worker_wakeup(int worker) noexcept {
    return worker_wakeups_[static_cast<std::size_t>(worker)];
  }

  channel& between(int from, int to);

  /// The direct collectives of a group, the same object for all its members. `context` identifies
  /// the group.
  std::shared_ptr<direct_collectives> direct_collectives_of(std::uint64_t context, const group& members);
  /// Called when a member no longer uses them. The entry is erased when all members have called.
  void leave_direct_collectives(std::uint64_t context, const group& members,
                                std::shared_ptr<direct_collectives> mine) noexcept;

  /// The id of a group that its members make without a message. All members that pass the name get
  /// the same id. A member enters once and leaves once; when all have left, the id is forgotten. If
  /// some members never use the group, the id stays for the lifetime of the node.
  std::uint64_t enter_group(const group_name& name);
  void leave_group(const group_name& name, int size) noexcept;

  /// The queue of messages to a rank on one communicator. All callers get the same object until
  /// close_p2p_queue().
  std::shared_ptr<p2p_queue> p2p_queue_of(std::uint64_t context, int rank);
  /// Called when the rank leaves the communicator. Unreceived messages are freed when the last
  /// sender has left.
  void close_p2p_queue(std::uint64_t context, int rank) noexcept;
  /// The pool of messages that a rank sends.
  message_pool& message_pool_of(int rank) noexcept { return pools_[static_cast<std::size_t>(rank)]; }
  void ring(wakeup_flag& wakeup) noexcept {
    if (wakeup.armed.load(std::memory_order_relaxed) != 0) waker_.ring(wakeup);
  }

 private:
  struct inbox {
    std::mutex lock;
    std::unordered_map<int, std::unique_ptr<channel>> from;
    std::unordered_map<std::uint64_t, std::shared_ptr<p2p_queue>> p2p;  // by context
  };

  std::vector<int> worker_of_;
  int workers_;
  waker& waker_;
  std::unique_ptr<wakeup_flag[]> rank_wakeups_, worker_wakeups_;
  // Declared before the queues, which return messages to them.
  std::unique_ptr<message_pool[]> pools_;
  std::unique_ptr<inbox[]> inboxes_;
  struct named_group {
    std::uint64_t id;
    int left = 0;  // members that have left
  };
  std::mutex groups_lock_;
  std::unordered_map<group_name, named_group, group_name::hash> groups_;
  std::uint64_t next_group_ = first_group;
  std::mutex direct_collectives_lock_;
  // Key: context, job rank of member 0.
  std::map<std::pair<std::uint64_t, int>, std::weak_ptr<direct_collectives>> direct_collectives_;
};

}  // namespace tutti::shm

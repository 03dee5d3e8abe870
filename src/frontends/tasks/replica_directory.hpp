// SPDX-License-Identifier: Apache-2.0
//
// Records which rank has which version of the data, and which nodes of this rank write and read the
// local version.
//
// *Between ranks:* the home of data has their contents. Another rank has a replica if it is up to
// date. Home and reader record a replica at the same point of the insertion, so they exchange no
// message. The directory decides whether a transfer is necessary; transfer_table inserts it. Each
// pair of ranks has a limit for the bytes of replicas. Both ranks evict the least recently used
// replica.
//
// *On this rank:* a node that reads waits for the writer of the version. A node that writes makes a
// new version, or waits for all readers of the old one if the contents are written in place.
//
// task_graph, transfer_table, explicit_transfers and reductions call it, on the rank's own thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "frontends/tasks/data_handle.hpp"

namespace tutti::tasks {

/// The replicas of a pair of ranks, least recently used first.
class replica_list {
 public:
  std::size_t bytes() const noexcept { return bytes_; }
  replica* oldest() const noexcept { return first_; }
  void add(replica& r) noexcept {
    r.valid = true;
    r.prev = last_;
    r.next = nullptr;
    (last_ != nullptr ? last_->next : first_) = &r;
    last_ = &r;
    bytes_ += r.data->bytes;
  }
  void remove(replica& r) noexcept {
    (r.prev != nullptr ? r.prev->next : first_) = r.next;
    (r.next != nullptr ? r.next->prev : last_) = r.prev;
    r.valid = false;
    bytes_ -= r.data->bytes;
  }
  void use(replica& r) noexcept {
    if (&r == last_) return;
    remove(r);
    add(r);
  }

 private:
  replica *first_ = nullptr, *last_ = nullptr;
  std::size_t bytes_ = 0;
};

/// The transfer that this rank inserts so that a version reaches the rank that needs it.
enum class transfer_action : std::uint8_t { none, send, receive };

class replica_directory {
 public:
  /// `cache`: whether replicas are kept. `max_bytes`: of replicas between two ranks.
  replica_directory(int rank, int size, bool cache, std::size_t max_bytes);

  bool caching() const noexcept { return cache_; }
  void set_cache(bool on) noexcept { cache_ = on; }
  /// Reads by other ranks that a replica has served.
  std::uint64_t cache_hits() const noexcept { return cache_hits_; }

  // --- nodes of this rank
  /// The version that `n` reads. `n` waits for its writer.
  contents& read_local(data_handle& d, node& n) {
    if (d.local_version == nullptr) make_contents(d, true);
    if (node* const before = d.writer.get()) n.wait_for(*before);
    if (d.in_place) add_reader(d, n);
    return *d.local_version;
  }
  /// The version that `n` writes. In place, `n` waits for the writer and the readers. Otherwise, if
  /// `n` also reads, `before` is the version that it reads, with a use that the caller releases.
  contents& write_local(data_handle& d, node& n, bool reads, contents*& before);
  /// The memory into which a receive or gather puts a new version. Its node waits in the same way
  /// as a writer. Contents that are not written in place get their memory from the node.
  contents& replace_local(data_handle& d);
  void wait_for_users(const data_handle& d, node& n) const;
  /// From now on `n` makes the local version.
  void set_writer(data_handle& d, node& n) noexcept {
    d.writer = node_ref(&n);
    d.readers.clear();
    d.pending_send = {};
  }
  /// Contents in memory of the runtime; `zero` clears it.
  void make_contents(data_handle& d, bool zero);

  // --- other ranks
  //
  // Called by all ranks that the data concern, at the same point of the insertion.
  bool involves_this_rank(const data_handle& d) const noexcept {
    return d.owner == rank_ || d.home == rank_ || d.local_version != nullptr || !d.partials.empty();
  }
  /// Called before `rank` reads. Records its replica.
  transfer_action read_at(data_handle& d, int rank) {
    return rank == d.home ? transfer_action::none : read_on_other_rank(d, rank);
  }
  /// Called before a task of `rank` writes. All other replicas become out of date. The result is
  /// transferred to the home.
  transfer_action written_at(data_handle& d, int rank);
  /// Drops contents that this rank may not cache: see caching(). Call it after the transfers are
  /// inserted.
  void drop_uncached(data_handle& d) {
    if (!cache_ && d.home != rank_) drop_local_replica(d);
  }
  void set_owner(data_handle& d, int owner);
  /// The owner becomes the home. Its contents are on their way, or `overwritten` without being
  /// read.
  void move_home(data_handle& d, bool overwritten);
  /// The contents at `root` become the current version, whichever rank was the home.
  void make_home(data_handle& d, int root);

  /// Drops the local replica, which is out of date. The program's own memory stays.
  void drop_local_replica(data_handle& d);
  /// The same, and the program's own memory has no value until it is overwritten.
  void invalidate(data_handle& d) {
    drop_local_replica(d);
    d.readable = false;
  }
  /// Removes the records of replicas on other ranks, which are out of date.
  void drop_remote_replicas(data_handle& d) { drop_remote_replicas(d, -1); }
  /// The data are about to be removed here.
  void remove(data_handle& d) {
    invalidate(d);
    drop_remote_replicas(d);
    std::erase(evicted_, &d);
  }
  /// Drops the evicted replicas here, except `used`, after nodes refer to what they need.
  void free_evicted(const data_handle* used) {
    if (!evicted_.empty()) free_all_evicted(used);
  }

 private:
  void add_reader(data_handle& d, node& n);
  transfer_action read_on_other_rank(data_handle& d, int rank);
  void drop_remote_replicas(data_handle& d, int except);
  void add_replica(replica_list& list, replica& r, bool local);
  void add_local_replica(data_handle& d) {
    add_replica(local_[static_cast<std::size_t>(d.home)], d.local_replica, true);
  }
  void add_remote_replica(data_handle& d, int rank) {
    add_replica(remote_[static_cast<std::size_t>(rank)], d.peer(rank).remote_replica, false);
  }
  void remove_local_replica(data_handle& d) {
    if (d.local_replica.valid) local_[static_cast<std::size_t>(d.local_replica.peer)].remove(d.local_replica);
  }
  void free_all_evicted(const data_handle* used);

  int rank_;
  bool cache_;
  std::size_t max_bytes_;
  std::vector<replica_list> remote_;  // by rank: its replicas of data whose home is here
  std::vector<replica_list> local_;   // by rank: the replicas here of data whose home is there
  std::vector<data_handle*> evicted_;
  std::uint64_t cache_hits_ = 0;
};

}  // namespace tutti::tasks

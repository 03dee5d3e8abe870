// SPDX-License-Identifier: Apache-2.0
//
// Which rank has which version of the data, and which node of this rank writes and reads the
// version here.
//
// *Between ranks:* the home of data has their contents. Another rank has a replica if it is up to
// date. Home and reader record a replica at the same point of the insertion, so neither asks the
// other. The directory decides whether a transfer is necessary; transfer_table inserts it. Each
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
    r.before = last_;
    r.behind = nullptr;
    (last_ != nullptr ? last_->behind : first_) = &r;
    last_ = &r;
    bytes_ += r.of->bytes;
  }
  void remove(replica& r) noexcept {
    (r.before != nullptr ? r.before->behind : first_) = r.behind;
    (r.behind != nullptr ? r.behind->before : last_) = r.before;
    r.valid = false;
    bytes_ -= r.of->bytes;
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

/// What this rank does so that a version reaches the rank that needs it.
enum class transfer_action : std::uint8_t { none, send, receive };

class replica_directory {
 public:
  /// `cache`: whether replicas are kept. `max_bytes`: of replicas between two ranks.
  replica_directory(int rank, int size, bool cache, std::size_t max_bytes);

  bool caches() const noexcept { return cache_; }
  void set_cache(bool on) noexcept { cache_ = on; }
  /// Reads by other ranks that a replica has served.
  std::uint64_t cache_hits() const noexcept { return cache_hits_; }

  // --- nodes of this rank
  /// The version that `n` reads. `n` waits for its writer.
  contents& read_here(data_handle& d, node& n) {
    if (d.here == nullptr) make_contents(d, true);
    if (node* const before = d.writer.get()) n.wait_for(*before);
    if (d.fixed) add_reader(d, n);
    return *d.here;
  }
  /// The version that `n` writes. In place, `n` waits for the writer and the readers. Otherwise, if
  /// `n` also reads, `before` is the version that it reads, with a use that the caller drops.
  contents& write_here(data_handle& d, node& n, bool reads, contents*& before);
  /// The memory into which the receive or gather `n` puts a new version. It waits as a writer does.
  /// Contents that are not written in place get their memory from the node.
  contents& replace_here(data_handle& d);
  void wait_for_users(const data_handle& d, node& n) const;
  /// `n` makes the version here, from now on.
  void set_writer(data_handle& d, node& n) noexcept {
    d.writer = node_ref(&n);
    d.readers.clear();
    d.sending = {};
  }
  /// Contents in memory of the runtime; `zero` clears it.
  void make_contents(data_handle& d, bool zero);

  // --- other ranks. Called by all ranks that the data concern, at the same point of the insertion.
  bool concerns(const data_handle& d) const noexcept {
    return d.owner == rank_ || d.home == rank_ || d.here != nullptr || !d.partials.empty();
  }
  /// `rank` is about to read: records its replica.
  transfer_action read_at(data_handle& d, int rank) {
    return rank == d.home ? transfer_action::none : read_elsewhere(d, rank);
  }
  /// A task of `rank` writes: all other replicas are out of date. The result goes home.
  transfer_action written_at(data_handle& d, int rank);
  /// Contents that this rank may not keep: see caches(). After the transfers are inserted.
  void drop_uncached(data_handle& d) {
    if (!cache_ && d.home != rank_) forget_local(d);
  }
  void set_owner(data_handle& d, int owner);
  /// The owner becomes the home. Its contents are on their way, or `overwritten` without being
  /// read.
  void move_home(data_handle& d, bool overwritten);
  /// The contents at `root` become the current version, whichever rank was the home.
  void make_home(data_handle& d, int root);

  /// The replica here is out of date: drops it. The program's own memory stays.
  void forget_local(data_handle& d);
  /// The same, and the program's own memory has no value until it is overwritten.
  void invalidate(data_handle& d) {
    forget_local(d);
    d.readable = false;
  }
  /// The replicas on other ranks are out of date.
  void forget_remote(data_handle& d) { forget_remote(d, -1); }
  /// The data are about to be removed here.
  void remove(data_handle& d) {
    invalidate(d);
    forget_remote(d);
    std::erase(evicted_, &d);
  }
  /// Drops the evicted replicas here, except `used`, after nodes refer to what they need.
  void free_evicted(const data_handle* used) {
    if (!evicted_.empty()) free_all_evicted(used);
  }

 private:
  void add_reader(data_handle& d, node& n);
  transfer_action read_elsewhere(data_handle& d, int rank);
  void forget_remote(data_handle& d, int except);
  void keep(replica_list& list, replica& r, bool here);
  void keep_local(data_handle& d) { keep(local_[static_cast<std::size_t>(d.home)], d.local, true); }
  void keep_remote(data_handle& d, int rank) {
    keep(remote_[static_cast<std::size_t>(rank)], d.with(rank).remote, false);
  }
  void unlist_local(data_handle& d) {
    if (d.local.valid) local_[static_cast<std::size_t>(d.local.peer)].remove(d.local);
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

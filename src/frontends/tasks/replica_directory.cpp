// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/replica_directory.hpp"

#include <cstring>

namespace tutti::tasks {

replica_directory::replica_directory(int rank, int size, bool cache, std::size_t max_bytes)
    : rank_(rank),
      cache_(cache),
      max_bytes_(max_bytes),
      remote_(static_cast<std::size_t>(size)),
      local_(static_cast<std::size_t>(size)) {}

// --- nodes of this rank

void replica_directory::make_contents(data_handle& d, bool zero) {
  if (d.local_version != nullptr) d.local_version->release();
  d.local_version = new contents;
  d.in_place = d.home == rank_;
  d.local_version->use_block(block::make(d.bytes));
  if (zero) std::memset(d.local_version->data, 0, d.bytes);
}

void replica_directory::add_reader(data_handle& d, node& n) {
  auto& readers = d.readers;
  if (readers.size() == readers.capacity())  // removes complete ones before the list grows
    std::erase_if(readers, [](const node_ref& r) { return r.get() == nullptr; });
  readers.emplace_back(&n);
}

void replica_directory::wait_for_users(const data_handle& d, node& n) const {
  if (node* const one = d.writer.get()) n.wait_for(*one);
  for (const node_ref& r : d.readers)
    if (node* const one = r.get(); one != nullptr && one != &n) n.wait_for(*one);
}

contents& replica_directory::write_local(data_handle& d, node& n, bool reads, contents*& before) {
  if (d.local_version != nullptr && d.in_place) {
    wait_for_users(d, n);
  } else {
    // The old version lives as long as its readers.
    contents* const old = std::exchange(d.local_version, nullptr);
    node* const old_writer = d.writer.get();
    make_contents(d, old == nullptr);
    if (reads && old != nullptr) {
      if (old_writer != nullptr) n.wait_for(*old_writer);
      before = old;
    } else if (old != nullptr) {
      old->release();
    }
  }
  set_writer(d, n);
  return *d.local_version;
}

contents& replica_directory::replace_local(data_handle& d) {
  if (!d.in_place) {
    contents* const replacement = new contents;
    if (d.local_version != nullptr) d.local_version->release();
    d.local_version = replacement;
  }
  return *d.local_version;
}

// --- other ranks

// Adds a replica, or moves it to the end of its list, and evicts the oldest ones beyond the limit.
// Both ranks of the pair do the same.
void replica_directory::add_replica(replica_list& list, replica& r, bool local) {
  if (r.valid)
    list.use(r);
  else
    list.add(r);
  while (list.bytes() > max_bytes_) {
    replica& old = *list.oldest();
    list.remove(old);
    if (local) evicted_.push_back(old.data);
  }
}

void replica_directory::free_all_evicted(const data_handle* used) {
  for (data_handle* d : evicted_)
    if (d != used && d->home != rank_ && !d->local_replica.valid) drop_local_replica(*d);
  evicted_.clear();
}

void replica_directory::drop_local_replica(data_handle& d) {
  remove_local_replica(d);
  if (d.spec.memory != nullptr || d.spec.count == 0 || d.local_version == nullptr) return;
  d.local_version->release();
  d.local_version = nullptr;
  d.in_place = d.readable = false;
}

void replica_directory::drop_remote_replicas(data_handle& d, int except) {
  for (auto& p : d.peers)
    if (p->remote_replica.valid && p->rank != except)
      remote_[static_cast<std::size_t>(p->rank)].remove(p->remote_replica);
}

transfer_action replica_directory::read_on_other_rank(data_handle& d, int rank) {
  if (rank_ == d.home) {
    if (!cache_) return transfer_action::send;
    const bool valid = d.peer(rank).remote_replica.valid;
    cache_hits_ += valid;
    add_remote_replica(d, rank);
    return valid ? transfer_action::none : transfer_action::send;
  }
  if (rank_ != rank) return transfer_action::none;
  const bool valid = d.local_replica.valid;
  d.local_replica.peer = d.home;
  if (!cache_) return transfer_action::receive;
  add_local_replica(d);
  return valid ? transfer_action::none : transfer_action::receive;
}

transfer_action replica_directory::written_at(data_handle& d, int rank) {
  if (rank_ == d.home) {
    drop_remote_replicas(d);
    d.readable = true;
    if (rank == rank_) return transfer_action::none;
    if (cache_) add_remote_replica(d, rank);
    return transfer_action::receive;
  }
  if (rank_ != rank) {
    invalidate(d);
    return transfer_action::none;
  }
  d.readable = true;
  remove_local_replica(d);
  d.local_replica.peer = d.home;
  if (cache_) add_local_replica(d);
  return transfer_action::send;
}

void replica_directory::set_owner(data_handle& d, int owner) {
  d.owner = owner;
  if (rank_ == d.home)
    drop_remote_replicas(d, owner);
  else if (rank_ != owner)
    invalidate(d);
}

void replica_directory::move_home(data_handle& d, bool overwritten) {
  const int before = d.home;
  if (rank_ == before) drop_remote_replicas(d);
  if (rank_ == d.owner) remove_local_replica(d);
  d.home = d.owner;
  if (rank_ != d.home && rank_ != before) return;
  d.in_place = d.spec.memory != nullptr || d.spec.count == 0;
  if (!overwritten) d.readable = true;
  if (rank_ == d.home) {
    if (!overwritten && cache_) add_remote_replica(d, before);
  } else {
    d.local_replica.peer = d.home;
    if (!overwritten && cache_)
      add_local_replica(d);
    else
      invalidate(d);
  }
}

void replica_directory::make_home(data_handle& d, int root) {
  if (d.home == root) {
    if (rank_ != root && rank_ != d.owner) invalidate(d);
    if (rank_ == root) drop_remote_replicas(d, d.owner);
    return;
  }
  if (rank_ == d.home) drop_remote_replicas(d);
  if (rank_ == root) remove_local_replica(d);
  if (rank_ != root) invalidate(d);
  d.home = root;
}

}  // namespace tutti::tasks

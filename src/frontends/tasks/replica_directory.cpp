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
  if (d.here != nullptr) d.here->drop();
  d.here = new contents;
  d.fixed = d.home == rank_;
  d.here->use_block(block::make(d.bytes));
  if (zero) std::memset(d.here->data, 0, d.bytes);
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

contents& replica_directory::write_here(data_handle& d, node& n, bool reads, contents*& before) {
  if (d.here != nullptr && d.fixed) {
    wait_for_users(d, n);
  } else {
    // The old version lives as long as its readers.
    contents* const old = std::exchange(d.here, nullptr);
    node* const maker = d.writer.get();
    make_contents(d, old == nullptr);
    if (reads && old != nullptr) {
      if (maker != nullptr) n.wait_for(*maker);
      before = old;
    } else if (old != nullptr) {
      old->drop();
    }
  }
  set_writer(d, n);
  return *d.here;
}

contents& replica_directory::replace_here(data_handle& d) {
  if (!d.fixed) {
    contents* const fresh = new contents;
    if (d.here != nullptr) d.here->drop();
    d.here = fresh;
  }
  return *d.here;
}

// --- other ranks

// Adds a replica, or moves it to the end of its list, and evicts the oldest ones beyond the limit.
// Both ranks of the pair do the same.
void replica_directory::keep(replica_list& list, replica& r, bool here) {
  if (r.valid)
    list.use(r);
  else
    list.add(r);
  while (list.bytes() > max_bytes_) {
    replica& old = *list.oldest();
    list.remove(old);
    if (here) evicted_.push_back(old.of);
  }
}

void replica_directory::free_all_evicted(const data_handle* used) {
  for (data_handle* d : evicted_)
    if (d != used && d->home != rank_ && !d->local.valid) forget_local(*d);
  evicted_.clear();
}

void replica_directory::forget_local(data_handle& d) {
  unlist_local(d);
  if (d.form.memory != nullptr || d.form.count == 0 || d.here == nullptr) return;
  d.here->drop();
  d.here = nullptr;
  d.fixed = d.readable = false;
}

void replica_directory::forget_remote(data_handle& d, int except) {
  for (auto& p : d.peers)
    if (p->remote.valid && p->rank != except) remote_[static_cast<std::size_t>(p->rank)].remove(p->remote);
}

transfer_action replica_directory::read_elsewhere(data_handle& d, int rank) {
  if (rank_ == d.home) {
    if (!cache_) return transfer_action::send;
    const bool valid = d.with(rank).remote.valid;
    cache_hits_ += valid;
    keep_remote(d, rank);
    return valid ? transfer_action::none : transfer_action::send;
  }
  if (rank_ != rank) return transfer_action::none;
  const bool valid = d.local.valid;
  d.local.peer = d.home;
  if (!cache_) return transfer_action::receive;
  keep_local(d);
  return valid ? transfer_action::none : transfer_action::receive;
}

transfer_action replica_directory::written_at(data_handle& d, int rank) {
  if (rank_ == d.home) {
    forget_remote(d);
    d.readable = true;
    if (rank == rank_) return transfer_action::none;
    if (cache_) keep_remote(d, rank);
    return transfer_action::receive;
  }
  if (rank_ != rank) {
    invalidate(d);
    return transfer_action::none;
  }
  d.readable = true;
  unlist_local(d);
  d.local.peer = d.home;
  if (cache_) keep_local(d);
  return transfer_action::send;
}

void replica_directory::set_owner(data_handle& d, int owner) {
  d.owner = owner;
  if (rank_ == d.home)
    forget_remote(d, owner);
  else if (rank_ != owner)
    invalidate(d);
}

void replica_directory::move_home(data_handle& d, bool overwritten) {
  const int before = d.home;
  if (rank_ == before) forget_remote(d);
  if (rank_ == d.owner) unlist_local(d);
  d.home = d.owner;
  if (rank_ != d.home && rank_ != before) return;
  d.fixed = d.form.memory != nullptr || d.form.count == 0;
  if (!overwritten) d.readable = true;
  if (rank_ == d.home) {
    if (!overwritten && cache_) keep_remote(d, before);
  } else {
    d.local.peer = d.home;
    if (!overwritten && cache_)
      keep_local(d);
    else
      invalidate(d);
  }
}

void replica_directory::make_home(data_handle& d, int root) {
  if (d.home == root) {
    if (rank_ != root && rank_ != d.owner) invalidate(d);
    if (rank_ == root) forget_remote(d, d.owner);
    return;
  }
  if (rank_ == d.home) forget_remote(d);
  if (rank_ == root) unlist_local(d);
  if (rank_ != root) invalidate(d);
  d.home = root;
}

}  // namespace tutti::tasks

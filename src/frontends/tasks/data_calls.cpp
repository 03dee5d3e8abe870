// SPDX-License-Identifier: Apache-2.0
//
// The calls of the program about data: creation, removal, owners, and transfers to other ranks.
#include <memory>
#include <string>

#include "frontends/tasks/task_graph.hpp"
#include "frontends/tasks/wait.hpp"

namespace tutti::tasks {

// --- creation and removal

data_handle* task_graph::add(const extent& e) {
  validator_.entry("data");
  validator_.rank("data", "owner", e.owner);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(e.element, e.count, &bytes) || e.count > 0xffffffffu)
    validator_.reject("data", "count",
                      "is " + std::to_string(e.count) + ", which exceeds the maximum size of a data handle",
                      "use several data handles");
  data_handle* const d = data_.add(e, bytes);
  if (d == nullptr) validator_.reject_used_tag("data", e.tag);
  handle_unexpected(*d);
  return d;
}

void task_graph::set_tag(data_handle& d, long tag) {
  validator_.entry("set_tag");
  validator_.handle("set_tag", d);
  if (tag < 0) validator_.reject_tag("set_tag", tag);
  for (const auto& p : d.peers)
    if (p->sent != 0 || p->received != 0)
      validator_.reject("set_tag", "handle", "belongs to data that were already sent",
                        "set its tag before you use it");
  if (!data_.set_tag(d, tag)) validator_.reject_used_tag("set_tag", tag);
  handle_unexpected(d);
}

// The data have a new name. Handles the messages that named them before.
void task_graph::handle_unexpected(data_handle& d) {
  for (std::unique_ptr<arrival>& a : data_.take_unmatched(d)) handle(std::move(a));
}

void task_graph::remove(data_handle& d) {
  validator_.entry("remove");
  validator_.handle("remove", d);
  reductions_.close(d);
  wait_until(
      [&] {
        bool unused = d.writer.get() == nullptr && d.expected.empty() && d.partials.empty();
        for (const node_ref& r : d.readers) unused = unused && r.get() == nullptr;
        return unused && (d.local_version == nullptr || d.local_version->users == 1);
      },
      "the tasks that use a data handle", "remove");
  replicas_.remove(d);
  reductions_.remove(d);
  data_.remove(d);
}

// --- owners and replicas

// Called before data are used in another way. Brings the contents to the owner, unless they are
// overwritten.
void task_graph::move_home_to_owner(data_handle& d, bool overwritten) {
  if (!overwritten) transfers_.to_reader(d, d.owner);
  replicas_.move_home(d, overwritten);
}

void task_graph::set_owner(data_handle& d, int owner) {
  validator_.entry("set_rank");
  validator_.handle("set_rank", d);
  validator_.rank("set_rank", "owner", owner);
  // A rank that the last use did not concern assumes from now on that the owner is the home.
  return_to_owner(d, false);
  if (owner != d.owner) replicas_.set_owner(d, owner);
}

void task_graph::flush(data_handle* d) {
  validator_.entry("flush");
  if (d == nullptr) {
    // A rejection that arrives meanwhile must not leave one half of the data flushed.
    const detail::deferred_rejections steps(detail::count_of_deferrals(*comm_));
    for (auto& one : data_) flush(one.get());
    return;
  }
  validator_.handle("flush", *d);
  return_to_owner(*d, false);
  if (d->home == rank_)
    replicas_.drop_remote_replicas(*d);
  else
    replicas_.drop_local_replica(*d);
}

void task_graph::set_cache(bool on) {
  validator_.entry("cache");
  if (on == replicas_.caching()) return;
  const detail::deferred_rejections steps(detail::count_of_deferrals(*comm_));
  flush(nullptr);
  replicas_.set_cache(on);
}

void task_graph::fetch(data_handle* d, int rank) {
  validator_.entry("fetch");
  validator_.rank("fetch", "rank", rank);
  if (d == nullptr) {
    if (rank == rank_)
      validator_.reject("fetch", "handle", "is empty, but this rank is to receive the data",
                        "create the data handle on this rank too");
    return;
  }
  validator_.handle("fetch", *d);
  return_to_owner(*d, false);
  transfers_.to_reader(*d, rank);
  replicas_.free_evicted(d);
}

// --- scatter and gather

void task_graph::scatter(data_handle* const* data, std::size_t n, int root) {
  validator_.entry("scatter");
  validator_.rank("scatter", "root", root);
  for (std::size_t i = 0; i < n; ++i)
    if (data[i] != nullptr) validator_.handle("scatter", *data[i]);
  for (std::size_t i = 0; i < n; ++i)
    if (rank_ == root && data[i] != nullptr && data[i]->owner != root && !data[i]->readable &&
        data[i]->home != rank_)
      validator_.reject("scatter", "handles",
                        "contain " + name_of(*data[i]) + ", of which the root has no copy",
                        "register its memory on the root");
  scatter_gather_node* const node = packs_.make(root, false);
  for (std::size_t i = 0; i < n; ++i) {
    if (data[i] == nullptr) continue;
    data_handle& d = *data[i];
    reductions_.close(d);
    replicas_.make_home(d, root);
    if (d.owner == root) continue;
    if (node == nullptr || !packs_.is_packed(d.bytes)) {
      transfers_.to_rank(d, d.owner);
    } else if (rank_ == root) {
      node->add(static_cast<std::uint32_t>(i), d.owner, d.bytes, replicas_.read_local(d, *node));
    } else if (rank_ == d.owner) {
      receive_pack(d, *node, static_cast<std::uint32_t>(i));
    }
    replicas_.move_home(d, true);
  }
  replicas_.free_evicted(nullptr);
  packs_.begin(node);
}

void task_graph::gather(data_handle* const* data, std::size_t n, int root) {
  validator_.entry("gather");
  validator_.rank("gather", "root", root);
  for (std::size_t i = 0; i < n; ++i)
    if (data[i] != nullptr) validator_.handle("gather", *data[i]);
  for (std::size_t i = 0; i < n; ++i)
    if (data[i] == nullptr && rank_ == root)
      validator_.reject("gather", "handles", "contain an empty handle at the root",
                        "create all data handles on the root");
  scatter_gather_node* const node = packs_.make(root, true);
  for (std::size_t i = 0; i < n; ++i) {
    if (data[i] == nullptr) continue;
    data_handle& d = *data[i];
    return_to_owner(d, false);
    if (d.home == root) continue;
    if (node == nullptr || !packs_.is_packed(d.bytes)) {
      transfers_.to_rank(d, root);
    } else if (rank_ == d.home) {
      node->add(static_cast<std::uint32_t>(i), d.home, d.bytes, replicas_.read_local(d, *node));
    } else if (rank_ == root) {
      receive_pack(d, *node, static_cast<std::uint32_t>(i));
    }
  }
  packs_.begin(node);
}

// The contents arrive in a pack.
void task_graph::receive_pack(data_handle& d, scatter_gather_node& node, std::uint32_t index) {
  if (d.in_place)
    replicas_.wait_for_users(d, node);
  else
    replicas_.replace_local(d).use_block(block::make(d.bytes));
  replicas_.set_writer(d, node);
  d.readable = true;
  node.add(index, d.owner, d.bytes, *d.local_version);
}

}  // namespace tutti::tasks

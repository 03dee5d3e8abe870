// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/data_registry.hpp"

#include <string>
#include <utility>

#include "frontends/tasks/task_reductions.hpp"

namespace tutti::tasks {

data_handle::data_handle(const data_registry& r) noexcept : registry(r) {}

data_handle::~data_handle() {
  if (local_version != nullptr) local_version->release();
}

peer_record& data_handle::add_peer(int rank) {
  auto made = std::make_unique<peer_record>();
  made->rank = rank;
  made->remote_replica.data = this;
  made->remote_replica.peer = rank;
  peers.push_back(std::move(made));
  return *peers.back();
}

std::string name_of(const data_handle& d) {
  return d.id < 0 ? "the data handle with tag " + std::to_string(-1 - d.id)
                  : "data handle " + std::to_string(d.id);
}

data_handle* data_registry::add(const extent& e, std::size_t bytes) {
  auto d = std::make_unique<data_handle>(*this);
  d->spec = e;
  d->bytes = bytes;
  d->owner = d->home = e.owner;
  d->local_replica.data = d.get();
  if (e.memory != nullptr || e.count == 0) {
    d->local_version = new contents;
    d->local_version->data = static_cast<std::byte*>(e.memory);
    d->in_place = d->readable = true;
  }
  if (e.tag < 0) {
    d->id = static_cast<std::int64_t>(by_index_.size());
    by_index_.push_back(d.get());
  } else if (!assign_tag(*d, e.tag)) {
    return nullptr;
  }
  data_.push_back(std::move(d));
  return data_.back().get();
}

bool data_registry::assign_tag(data_handle& d, long tag) {
  if (!by_tag_.emplace(tag, &d).second) return false;
  d.id = -1 - tag;
  if (const auto before = unused_tags_.find(tag); before != unused_tags_.end()) {
    d.peers = std::move(before->second.peers);
    d.collect_requests = std::move(before->second.collect_requests);
    for (auto& p : d.peers) p->remote_replica.data = &d;
    unused_tags_.erase(before);
  }
  return true;
}

bool data_registry::set_tag(data_handle& d, long tag) {
  const std::int64_t before = d.id;
  if (before == -1 - tag) return true;
  if (!assign_tag(d, tag)) return false;
  if (before < 0) {
    by_tag_.erase(-1 - before);
  } else {
    by_index_[static_cast<std::size_t>(before)] = nullptr;
    if (static_cast<std::size_t>(before) + 1 == by_index_.size()) by_index_.pop_back();
  }
  return true;
}

data_handle* data_registry::find(std::int64_t id) const noexcept {
  if (id >= 0)
    return static_cast<std::size_t>(id) < by_index_.size() ? by_index_[static_cast<std::size_t>(id)]
                                                           : nullptr;
  const auto at = by_tag_.find(-1 - id);
  return at != by_tag_.end() ? at->second : nullptr;
}

std::vector<std::unique_ptr<arrival>> data_registry::take_unmatched(const data_handle& d) {
  std::vector<std::unique_ptr<arrival>> matched;
  for (std::unique_ptr<arrival>& a : unmatched_)
    if (a->header.id == d.id) matched.push_back(std::move(a));
  if (!matched.empty()) std::erase(unmatched_, nullptr);
  return matched;
}

// Other ranks may have removed the data already, and sent the first messages for the next of their
// name.
void data_registry::remove(data_handle& d) {
  for (auto& a : d.unexpected) unmatched_.push_back(std::move(a));
  if (d.id < 0) {
    by_tag_.erase(-1 - d.id);
    unused_tags_[-1 - d.id] = {std::move(d.peers), std::move(d.collect_requests)};
  } else {
    by_index_[static_cast<std::size_t>(d.id)] = nullptr;
  }
  std::erase_if(data_, [&](const auto& one) { return one.get() == &d; });
}

}  // namespace tutti::tasks

// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/node_messages.hpp"

#include <new>

namespace tutti::mpi {

node_messages::entry& node_messages::take(int peer, bool receives, transfer& t) {
  std::size_t i = 0;
  if (entries_in_use_ == entries_.size())
    i = entries_.size();
  else
    while (entries_[i].busy) ++i;
  if (i == entries_.size()) entries_.emplace_back();
  entry& e = entries_[i];
  e.peer = peer;
  e.receives = receives;
  e.busy = true;
  ++entries_in_use_;
  mark(t, first_index + static_cast<std::uint32_t>(i), ++e.generation);
  return e;
}

void node_messages::release(entry& e) noexcept {
  if (e.abandoned) --abandoned_;
  e.busy = e.abandoned = false;
  e.copy.reset();
  --entries_in_use_;
}

void node_messages::start_send(int to, std::uint64_t tag, const void* data, std::size_t bytes, transfer& t) {
  entry& e = take(to, false, t);
  e.sent = {};
  e.sent.tag = tag;
  e.sent.data = static_cast<const std::byte*>(data);
  e.sent.bytes = bytes;
  through_.start(to, e.sent);
}

void node_messages::start_receive(int from, int sender, std::uint64_t tag, void* data, std::size_t bytes,
                                  transfer& t) {
  entry& e = take(from, true, t);
  e.sender = sender;
  e.received = {};
  e.received.tag = tag;
  e.received.target = static_cast<std::byte*>(data);
  e.received.capacity = bytes;
  through_.start(from, e.received);
}

node_messages::progress node_messages::advance_entry(const request_id& which) {
  entry& e = entries_[which.index - first_index];
  if (!e.busy || e.abandoned || e.generation != which.generation) [[unlikely]]
    return progress::abandoned;
  if (!is_complete(e)) {
    if (e.receives)
      through_.from(e.peer).progress();
    else
      through_.to(e.peer).progress();
    if (!is_complete(e)) return progress::under_way;
  }
  wrong_ = {e.sender, e.received.capacity, e.received.bytes};
  const bool wrong = e.receives && wrong_.actual != wrong_.expected;
  release(e);
  return wrong ? progress::wrong_length : progress::complete;
}

void node_messages::progress_all() {
  through_.progress();
  if (abandoned_ == 0) [[likely]]
    return;
  for (entry& e : entries_)
    if (e.abandoned && is_complete(e)) release(e);
}

// Returns false if there is no memory for a copy.
bool node_messages::abandon(entry& e) noexcept {
  e.abandoned = true;
  ++abandoned_;
  if (is_complete(e)) {
    release(e);
  } else if (e.receives) {
    e.received.target = nullptr;
    e.received.capacity = 0;
  } else {
    e.copy.reset(new (std::nothrow) std::byte[e.sent.bytes]);
    if (!e.copy) return false;
    std::memcpy(e.copy.get() + e.sent.sent, e.sent.data + e.sent.sent, e.sent.bytes - e.sent.sent);
    e.sent.data = e.copy.get();
  }
  return true;
}

void node_messages::abandon(const transfer& t) noexcept {
  if (id_of(t).index == completed) return;
  entry& e = entries_[id_of(t).index - first_index];
  if (e.busy && e.receives && !e.abandoned && e.generation == id_of(t).generation) abandon(e);
}

bool node_messages::release_buffers() noexcept {
  for (entry& e : entries_)
    if (e.busy && !e.abandoned && !abandon(e)) return false;
  return true;
}

void node_messages::drop() noexcept {
  through_.drop_requests();
  for (entry& e : entries_)
    if (e.busy) release(e);
}

}  // namespace tutti::mpi

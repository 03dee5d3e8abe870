// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/group_context.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "engines/mpi/group_p2p.hpp"

namespace tutti::mpi {

group_context::group_context(mpi_endpoint& ep, group_messages& post, const group& members, std::uint64_t id,
                             const group_name& name)
    : context(ep, members, id), ep_(ep), messages_(post), name_(name) {
  messages_.open(*this);
}

group_context::~group_context() { messages_.close(*this); }

std::unique_ptr<p2p_transport> group_context::open_p2p() {
  return std::make_unique<group_p2p_transport>(*this, ep_);
}

// The state of the endpoint's own transfer follows the handle.
transfer& group_context::moving_of(transfer& t) noexcept {
  static_assert(sizeof(handle) + sizeof(ticket) <= sizeof(transfer) &&
                sizeof(handle) % alignof(transfer) == 0);
  return *reinterpret_cast<transfer*>(t.state + sizeof(handle));
}

void group_context::isend(int to, std::uint32_t run, const void* data, std::size_t bytes, transfer& t) {
  const head what{name_, bytes, members().rank(), run, 0, 0};
  const bool at_once = messages_.send(members().address(to), what, data, false, moving_of(t), "a message");
  new (&t) handle{at_once ? handle::complete : handle::sends, 0, 0};
}

void group_context::irecv(int from, std::uint32_t run, void* data, std::size_t bytes, transfer& t) {
  auto row =
      static_cast<std::uint32_t>(std::find_if(pending_transfers_.begin(), pending_transfers_.end(),
                                              [](const pending_transfer& w) { return w.number == 0; }) -
                                 pending_transfers_.begin());
  if (row == pending_transfers_.size()) pending_transfers_.emplace_back();
  pending_transfer& w = pending_transfers_[row];
  w.number = ++numbers_;
  w.from = from;
  w.run = run;
  w.into = data;
  w.bytes = bytes;
  w.now = pending_transfer::waits;
  new (&t) handle{handle::receives, row, w.number};
  const auto found = std::find_if(aside_.begin(), aside_.end(), [&](const arrival& a) {
    return a.what.source == from && a.what.number == run;
  });
  if (found == aside_.end()) return;
  const arrival one = std::move(*found);
  aside_.erase(found);
  give(w, one.what, one.contents.get());
}

bool group_context::done(transfer& t, const shm::wait_site& site) {
  const handle& h = *reinterpret_cast<const handle*>(t.state);
  if (h.kind == handle::complete) return true;
  if (h.kind == handle::sends) {
    messages_.poll(site.operation);
    return ep_.finished(moving_of(t), site);
  }
  if (h.row >= pending_transfers_.size() || pending_transfers_[h.row].number != h.number) [[unlikely]]
    ep_.throw_abandoned(site);
  if (pending_transfers_[h.row].now == pending_transfer::waits) messages_.poll(site.operation);
  pending_transfer& w = pending_transfers_[h.row];
  if (w.now == pending_transfer::waits) return false;
  if (w.now == pending_transfer::moves && !ep_.finished(w.moving, site)) return false;
  w.number = 0;
  if (w.came != w.bytes) [[unlikely]]
    ep_.refuse_length(members().address(w.from), w.bytes, w.came, site);
  return true;
}

// Among the matching receives, returns the one that was begun first.
group_context::pending_transfer* group_context::oldest_for(const head& what) noexcept {
  pending_transfer* oldest = nullptr;
  for (pending_transfer& w : pending_transfers_)
    if (w.number != 0 && w.now == pending_transfer::waits && w.from == what.source && w.run == what.number &&
        (oldest == nullptr || w.number < oldest->number))
      oldest = &w;
  return oldest;
}

// A message of another length is consumed, and done() reports the error to its receive.
void group_context::give(pending_transfer& w, const head& what, const std::byte* contents) {
  const int from = members().address(what.source);
  w.came = what.bytes;
  w.now = pending_transfer::over;
  if (what.body == 0) {
    if (w.came == w.bytes && w.bytes != 0) std::memcpy(w.into, contents, w.bytes);
  } else if (w.came != w.bytes) {
    messages_.take_in(from, what);
  } else {
    w.now = pending_transfer::moves;
    messages_.receive(from, what, w.into, w.moving, "a message");
  }
}

bool group_context::take_at_once(const head& what, const std::byte* contents) {
  if (what.is_p2p != 0) return false;
  pending_transfer* const w = oldest_for(what);
  if (w == nullptr) return false;
  give(*w, what, contents);
  return true;
}

void group_context::take(arrival&& one) {
  if (one.what.is_p2p != 0)
    p2p_.push_back(std::move(one));
  else
    aside_.push_back(std::move(one));
}

void group_context::forget() noexcept {
  for (pending_transfer& w : pending_transfers_) w.number = 0;
}

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/group_context.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "engines/mpi/group_p2p.hpp"

namespace tutti::mpi {

group_context::group_context(mpi_endpoint& ep, group_messages& m, const group& members, std::uint64_t id,
                             const group_name& name)
    : context(ep, members, id), ep_(ep), messages_(m), name_(name) {
  messages_.open(*this);
}

group_context::~group_context() { messages_.close(*this); }

native_offer group_context::offers(const agreed_signature& s) const noexcept {
  if (!memory_collectives::has_kind(s.what)) return native_offer::none;
  const memory_collectives* const calls = calls_in_memory();
  return calls != nullptr && calls->serves(s.what, s.count, s.element_size) ? native_offer::any
                                                                            : native_offer::none;
}

std::optional<std::size_t> group_context::native_in_memory(const agreed_signature& s) const noexcept {
  const memory_collectives* const calls = memory_collectives::has_kind(s.what) ? calls_in_memory() : nullptr;
  return calls != nullptr ? calls->max_bytes(s.what, s.element_size) : std::nullopt;
}

const memory_collectives* group_context::calls_in_memory() const {
  if (!memory_requested_) {
    memory_requested_ = true;
    in_memory_ = ep_.open_memory_collectives(members(), name_, entry_);
  }
  return in_memory_.get();
}

void group_context::native(const call& c, const shm::wait_site&) {
  static_cast<void>(calls_in_memory());
  in_memory_->run(c);
  ep_.look_for_rejections();
}

void group_context::native_begin(const call& c, native_state& s) {
  static_assert(sizeof(native_in_progress) <= sizeof(native_state));
  static_cast<void>(calls_in_memory());
  new (s.state) native_in_progress{&c, in_memory_->begin(c)};
}

bool group_context::native_progress(native_state& s, bool blocking, const shm::wait_site& site) {
  auto& one = *reinterpret_cast<native_in_progress*>(s.state);
  return in_memory_->finish(*one.what, one.progress, blocking, site);
}

std::optional<shm::line_exchange> group_context::lines() {
  static_cast<void>(calls_in_memory());
  return in_memory_ != nullptr ? in_memory_->lines() : std::nullopt;
}

std::unique_ptr<p2p_transport> group_context::open_p2p() {
  return std::make_unique<group_p2p_transport>(*this, ep_, ep_.p2p_on_node());
}

// If the table was full, no member has a number. Then all of them leave their messages to MPI.
int group_context::rank_on_node(int member) {
  if (ep_.messages_on_node() == nullptr) return -1;
  const int there = ep_.rank_on_node(members().address(member));
  if (there < 0) return -1;
  if (!entry_) [[unlikely]]
    entry_.emplace(ep_.memory(), name_);
  return entry_->number() != 0 ? there : -1;
}

// The state of the endpoint's own transfer follows the handle.
transfer& group_context::body_transfer_of(transfer& t) noexcept {
  static_assert(sizeof(handle) + sizeof(request_id) <= sizeof(transfer) &&
                sizeof(handle) % alignof(transfer) == 0);
  return *reinterpret_cast<transfer*>(t.state + sizeof(handle));
}

void group_context::isend(int to, std::uint32_t run, const void* data, std::size_t bytes, transfer& t) {
  if (const int there = rank_on_node(to); there >= 0) {
    note_message_to(there);
    return ep_.messages_on_node()->isend(there, node_messages::tag_of_schedule(id_on_node(), run), data,
                                         bytes, t);
  }
  const head what{name_, bytes, members().rank(), run, 0, 0};
  const bool at_once = messages_.send(members().address(to), what, data, send_modes::standard,
                                      body_transfer_of(t), "a message");
  new (&t) handle{{at_once ? complete : sending, 0}, 0};
}

void group_context::irecv(int from, std::uint32_t run, void* data, std::size_t bytes, transfer& t) {
  if (const int there = rank_on_node(from); there >= 0)
    return ep_.messages_on_node()->irecv(there, members().address(from),
                                         node_messages::tag_of_schedule(id_on_node(), run), data, bytes, t);
  auto row =
      static_cast<std::uint32_t>(std::find_if(pending_transfers_.begin(), pending_transfers_.end(),
                                              [](const pending_transfer& w) { return w.number == 0; }) -
                                 pending_transfers_.begin());
  if (row == pending_transfers_.size()) pending_transfers_.emplace_back();
  pending_transfer& w = pending_transfers_[row];
  w.number = ++last_number_;
  w.from = from;
  w.run = run;
  w.into = data;
  w.bytes = bytes;
  w.state = pending_transfer::waiting;
  new (&t) handle{{receiving, row}, w.number};
  const auto found = std::find_if(unexpected_.begin(), unexpected_.end(), [&](const arrival& a) {
    return a.what.source == from && a.what.number == run;
  });
  if (found == unexpected_.end()) return;
  const arrival one = std::move(*found);
  unexpected_.erase(found);
  match_message(w, one.what, one.contents.get());
}

bool group_context::done(transfer& t, const shm::wait_site& site) {
  if (node_messages::owns(t)) return ep_.finished_on_node(t, site);
  const handle& h = *reinterpret_cast<const handle*>(t.state);
  if (h.which.index == complete) return true;
  if (h.which.index == sending) {
    messages_.poll(site.operation);
    return ep_.finished(body_transfer_of(t), site);
  }
  const std::uint32_t row = h.which.generation;
  if (row >= pending_transfers_.size() || pending_transfers_[row].number != h.number) [[unlikely]]
    ep_.throw_abandoned(site);
  if (pending_transfers_[row].state == pending_transfer::waiting) messages_.poll(site.operation);
  pending_transfer& w = pending_transfers_[row];
  if (w.state == pending_transfer::waiting) return false;
  if (w.state == pending_transfer::receiving_body && !ep_.finished(w.body_transfer, site)) return false;
  w.number = 0;
  if (w.received_bytes != w.bytes) [[unlikely]]
    ep_.throw_wrong_length(members().address(w.from), w.bytes, w.received_bytes, site);
  ep_.look_for_rejections();
  return true;
}

// Among the matching receives, returns the one that was begun first.
group_context::pending_transfer* group_context::oldest_match(const head& what) noexcept {
  pending_transfer* oldest = nullptr;
  for (pending_transfer& w : pending_transfers_)
    if (w.number != 0 && w.state == pending_transfer::waiting && w.from == what.source &&
        w.run == what.number && (oldest == nullptr || w.number < oldest->number))
      oldest = &w;
  return oldest;
}

// A message of another length is consumed, and done() reports the error to its receive.
void group_context::match_message(pending_transfer& w, const head& what, const std::byte* contents) {
  const int from = members().address(what.source);
  w.received_bytes = what.bytes;
  w.state = pending_transfer::complete;
  if (what.body == 0) {
    if (w.received_bytes == w.bytes && w.bytes != 0) std::memcpy(w.into, contents, w.bytes);
  } else if (w.received_bytes != w.bytes) {
    messages_.receive_and_discard(from, what);
  } else {
    w.state = pending_transfer::receiving_body;
    messages_.receive(from, what, w.into, w.body_transfer, "a message");
  }
}

bool group_context::deliver_now(const head& what, const std::byte* contents) {
  if (what.is_p2p != 0) return false;
  pending_transfer* const w = oldest_match(what);
  if (w == nullptr) return false;
  match_message(*w, what, contents);
  return true;
}

void group_context::enqueue(arrival&& one) {
  if (one.what.is_p2p != 0)
    p2p_arrivals_.push_back(std::move(one));
  else
    unexpected_.push_back(std::move(one));
}

void group_context::cancel_receives() noexcept {
  for (pending_transfer& w : pending_transfers_) w.number = 0;
}

}  // namespace tutti::mpi

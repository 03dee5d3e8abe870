// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/node_p2p.hpp"

#include <cstring>
#include <new>

namespace tutti::mpi {
namespace {

template <class T>
T contents_of(shm::p2p_arrival& one) noexcept {
  T value;
  std::memcpy(&value, one.data(), sizeof value);
  return value;
}

constexpr std::uint64_t contents_tag(std::uint32_t number) noexcept {
  return shm::tag_of(shm::message_kind::contents, number);
}

}  // namespace

// One byte more, so that a copy of nothing is not null.
std::unique_ptr<std::byte[]> node_p2p::copy_of(const void* data, std::size_t bytes) {
  std::unique_ptr<std::byte[]> copy(new std::byte[bytes + 1]);
  if (bytes != 0) std::memcpy(copy.get(), data, bytes);
  return copy;
}

// --- sending

bool node_p2p::post(int to, std::uint32_t communicator, const detail::send_args& what, transfer& t) {
  if (what.bytes > through_.pool().cell_bytes() || what.mode == send_modes::synchronous) {
    announce(to, communicator, what, t);
    return what.mode == send_modes::buffered;
  }
  const std::uint64_t tag = shm::p2p_tag(communicator, false, what.tag);
  if (what.mode == send_modes::buffered) {
    send_or_copy(to, tag, what.data, what.bytes);
    return true;
  }
  if (through_.to(to).post(tag, what.data, what.bytes)) [[likely]]
    return true;
  messages_.isend(to, tag, what.data, what.bytes, t);
  return false;
}

node_p2p::announced_send& node_p2p::unused_send() {
  std::size_t i = 0;
  if (open_ == sends_.size())
    i = sends_.size();
  else
    while (sends_[i].busy) ++i;
  if (i == sends_.size()) sends_.emplace_back();
  return sends_[i];
}

void node_p2p::announce(int to, std::uint32_t communicator, const detail::send_args& what, transfer& t) {
  const bool buffered = what.mode == send_modes::buffered;
  announced_send& one = unused_send();
  if (buffered) one.copy = copy_of(what.data, what.bytes);
  one.to = to;
  one.data = buffered ? one.copy.get() : what.data;
  one.bytes = what.bytes;
  one.detached = buffered;
  one.granted = one.discarded = false;
  std::uint32_t number = 0;
  while (&sends_[number] != &one) ++number;
  const shm::p2p_announcement a{what.bytes, number};
  send_or_copy(to, shm::p2p_tag(communicator, true, what.tag), &a, sizeof a);
  one.busy = true;
  ++open_;
  ++one.generation;
  if (!buffered) *reinterpret_cast<request_id*>(t.state) = {first_index + number, one.generation};
}

// Sends a message of at most one cell.
void node_p2p::send_or_copy(int to, std::uint64_t tag, const void* data, std::size_t bytes) {
  if (failed_ || through_.to(to).post(tag, data, bytes)) [[likely]]
    return;
  copied_message& one = copied_.emplace_back();
  try {
    one.copy = copy_of(data, bytes);
    messages_.isend(to, tag, one.copy.get(), bytes, one.state);
  } catch (...) {
    copied_.pop_back();
    throw;
  }
}

node_messages::progress node_p2p::advance(const transfer& t) {
  announced_send& one = sends_[id_of(t).index - first_index];
  const auto is_mine = [&] { return one.busy && !one.detached && one.generation == id_of(t).generation; };
  if (is_mine() && !one.granted && !one.discarded) progress();
  if (!is_mine()) [[unlikely]]
    return node_messages::progress::abandoned;
  if (!is_complete(one)) return node_messages::progress::under_way;
  release(one);
  return node_messages::progress::complete;
}

// Does not ask again once it has returned true. If node_messages has abandoned the contents, they
// go on from its own copy.
bool node_p2p::is_complete(const announced_send& one) {
  return one.discarded ||
         (one.granted && messages_.advance(one.contents) != node_messages::progress::under_way);
}

void node_p2p::release(announced_send& one) noexcept {
  one.busy = false;
  one.copy.reset();
  --open_;
}

// --- receiving

node_p2p::arrival* node_p2p::next(queue& of) {
  if (arrival* const one = shm::p2p_arrivals::next(of)) return one;
  through_.take_arrivals();
  return shm::p2p_arrivals::next(of);
}

node_p2p::arrival* node_p2p::next(queue& of, const std::vector<int>& member_of) {
  arrival* const one = next(of);
  if (one == nullptr) return nullptr;
  one->source = member_of[static_cast<std::size_t>(one->from)];
  one->tag = static_cast<int>(one->channel_tag & 0x7fffffff);
  one->bytes = bytes_of(*one);
  return one;
}

std::size_t node_p2p::bytes_of(arrival& one) noexcept {
  return one.is_announced() ? contents_of<shm::p2p_announcement>(one).bytes : one.bytes_here;
}

bool node_p2p::receive(arrival& one, int sender, void* into, transfer& t) {
  if (one.is_announced()) {
    const auto a = contents_of<shm::p2p_announcement>(one);
    // The request is there before the contents, which nothing else would take.
    messages_.irecv(one.from, sender, contents_tag(a.number), into, a.bytes, t);
    grant(one, false);
    through_.arrivals().release(one);
    return false;
  }
  if (one.bytes_here != 0) std::memcpy(into, one.data(), one.bytes_here);
  through_.arrivals().release(one);
  return true;
}

void node_p2p::drop(arrival& one) noexcept {
  try {
    if (one.is_announced()) grant(one, true);
  } catch (...) {
    // There is no memory for 8 bytes. The sender waits, and its report names this rank.
  }
  through_.arrivals().release(one);
}

void node_p2p::grant(arrival& one, bool discards) {
  if (one.granted) return;
  const shm::p2p_grant g{contents_of<shm::p2p_announcement>(one).number, discards ? 1u : 0u};
  send_or_copy(one.from, shm::tag_of(shm::message_kind::grant, 0), &g, sizeof g);
  one.granted = true;
}

// --- progress

void node_p2p::progress() {
  if (failed_) return;
  if (messages_.is_busy()) messages_.progress_all();
  if (open_ != 0)  // a grant may be behind a message without a receive
    through_.take_arrivals();
  else
    through_.take_first_arrivals();
  while (arrival* const one = shm::p2p_arrivals::next(through_.arrivals().grants())) {
    const auto g = contents_of<shm::p2p_grant>(*one);
    const int from = one->from;
    through_.arrivals().release(*one);
    accept(g, from);
  }
  if (!copied_.empty())
    copied_.remove_if(
        [&](copied_message& m) { return messages_.advance(m.state) != node_messages::progress::under_way; });
  if (open_ != 0)
    for (announced_send& one : sends_)
      if (one.busy && one.detached && is_complete(one)) release(one);
}

void node_p2p::accept(const shm::p2p_grant& g, int from) {
  announced_send& one = sends_[g.number];
  if (!one.busy || one.granted || one.to != from) return;
  if (g.discards != 0) {
    one.discarded = true;
    return;
  }
  messages_.isend(one.to, contents_tag(g.number), one.data, one.bytes, one.contents);
  one.granted = true;
}

// --- ends

void node_p2p::discard_all() {
  if (failed_) return;
  through_.take_arrivals();
  for (std::size_t i = 0; i < through_.arrivals().all().size(); ++i) {
    arrival& one = *through_.arrivals().all()[i];
    const bool is_message = static_cast<shm::message_kind>(one.channel_tag >> 62) == shm::message_kind::p2p;
    if (is_message && one.state != arrival::phase::unused && one.is_announced()) grant(one, true);
  }
}

bool node_p2p::release_buffers() noexcept {
  for (announced_send& one : sends_) {
    if (!one.busy || one.detached) continue;
    one.detached = true;
    if (one.granted || one.discarded) continue;
    try {
      one.copy = copy_of(one.data, one.bytes);
    } catch (const std::bad_alloc&) {
      return false;
    }
    one.data = one.copy.get();
  }
  return true;
}

void node_p2p::drop_all() noexcept {
  failed_ = true;
  for (announced_send& one : sends_)
    if (one.busy) release(one);
  copied_.clear();
}

}  // namespace tutti::mpi

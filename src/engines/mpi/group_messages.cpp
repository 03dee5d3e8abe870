// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/group_messages.hpp"

#include <cstring>

#include <sched.h>

#include "engines/mpi/group_context.hpp"

namespace tutti::mpi {

// Cancels the posted receives. Unsent copies are leaked, because MPI may read them until the
// process ends.
group_messages::~group_messages() {
  int finalized = 0;
  if (!posted_buffers_ || MPI_Finalized(&finalized) != MPI_SUCCESS || finalized) return;
  const double end = seconds_now() + 2;
  while (!all_sent() && seconds_now() < end) sched_yield();
  if (!all_sent()) new std::deque<send_copy>(std::move(copies_));
  for (posted_buffer& one : *posted_buffers_) {
    if (one.request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&one.request);
    MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  }
}

void group_messages::open(group_context& one) {
  if (!posted_buffers_) [[unlikely]]
    post_receives();
  groups_.emplace(one.name(), &one);
  if (early_arrivals_.empty()) return;
  const auto found = early_arrivals_.find(one.name());
  if (found == early_arrivals_.end()) return;
  for (arrival& a : found->second) one.enqueue(std::move(a));
  early_arrivals_.erase(found);
}

void group_messages::close(group_context& one) noexcept { groups_.erase(one.name()); }

void group_messages::post_receives() {
  posted_buffers_ = std::make_unique<std::array<posted_buffer, 16>>();
  body_tags_.resize(static_cast<std::size_t>(ep_.size()));
  for (posted_buffer& one : *posted_buffers_) post_receive(one);
}

void group_messages::post_receive(posted_buffer& one) {
  check(MPI_Irecv(one.bytes.data(), static_cast<int>(one.bytes.size()), MPI_BYTE, MPI_ANY_SOURCE, 0, comm_,
                  &one.request),
        "receiving", ep_.rank());
}

// --- sending

// Copies are used in turn. If the least recently used one is not free, a new one is made.
group_messages::send_copy& group_messages::free_copy() {
  if (!copies_.empty()) {
    send_copy& oldest = copies_[next_copy_];
    int flag = 1;
    if (oldest.request != MPI_REQUEST_NULL)
      check(MPI_Test(&oldest.request, &flag, MPI_STATUS_IGNORE), "sending", ep_.rank());
    if (flag) {
      next_copy_ = (next_copy_ + 1) % copies_.size();
      return oldest;
    }
  }
  next_copy_ = 0;
  return copies_.emplace_back();
}

bool group_messages::send(int to, head what, const void* data, send_modes mode, transfer& t,
                          const char* operation) {
  const bool synchronous = mode == send_modes::synchronous;
  const bool contents_inline = what.bytes <= inline_bytes && !synchronous;
  if (!contents_inline) {
    std::int32_t& sent = body_tags_[static_cast<std::size_t>(to)];
    what.body = 1 + sent;
    sent = (sent + 1) % ep_.max_tag();
  }
  send_copy& one = free_copy();
  std::memcpy(one.bytes.data(), &what, sizeof what);
  std::size_t bytes = sizeof what;
  if (contents_inline && what.bytes != 0) {
    std::memcpy(one.bytes.data() + bytes, data, what.bytes);
    bytes += what.bytes;
  }
  check(MPI_Isend(one.bytes.data(), static_cast<int>(bytes), MPI_BYTE, to, 0, comm_, &one.request), operation,
        ep_.rank());
  if (contents_inline) return true;
  message& m = ep_.begin_send(t, to, what.bytes);
  typed_count s = ep_.types().of(element{}, what.bytes);
  const int code =
      (synchronous ? MPI_Issend : MPI_Isend)(data, s.count, s.type, to, what.body, comm_, &m.request);
  s.free();
  if (code != MPI_SUCCESS) [[unlikely]] {
    ep_.end_message(t);
    throw_mpi_error(code, operation, ep_.rank());
  }
  return false;
}

bool group_messages::all_sent() noexcept {
  for (send_copy& one : copies_) {
    int flag = 1;
    if (one.request != MPI_REQUEST_NULL && MPI_Test(&one.request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
        !flag)
      return false;
  }
  return true;
}

// --- receiving

void group_messages::receive(int from, const head& what, void* into, transfer& t, const char* operation) {
  message& m = ep_.begin_receive(t, from, what.bytes);
  typed_count s = ep_.types().of(element{}, what.bytes);
  const int code = MPI_Irecv(into, s.count, s.type, from, what.body, comm_, &m.request);
  s.free();
  if (code != MPI_SUCCESS) [[unlikely]] {
    ep_.end_message(t);
    throw_mpi_error(code, operation, ep_.rank());
  }
}

void group_messages::receive_and_discard(int from, const head& what) {
  const std::unique_ptr<std::byte[]> discarded(new std::byte[what.bytes + 1]);
  typed_count s = ep_.types().of(element{}, what.bytes);
  MPI_Recv(discarded.get(), s.count, s.type, from, what.body, comm_, MPI_STATUS_IGNORE);
  s.free();
}

void group_messages::cancel_receives() noexcept {
  for (const auto& [name, one] : groups_) one->cancel_receives();
}

void group_messages::poll(const char* operation) {
  if (!posted_buffers_) return;
  for (;;) {
    posted_buffer& one = (*posted_buffers_)[next_buffer_];
    int flag = 0;
    check(MPI_Test(&one.request, &flag, MPI_STATUS_IGNORE), operation, ep_.rank());
    if (!flag) return;
    next_buffer_ = (next_buffer_ + 1) % posted_buffers_->size();
    dispatch(one.bytes.data());
    post_receive(one);
  }
}

void group_messages::dispatch(const std::byte* message) {
  head what;
  std::memcpy(&what, message, sizeof what);
  const auto found = groups_.find(what.group);
  if (found != groups_.end() && found->second->deliver_now(what, message + sizeof what)) return;
  arrival unmatched{what, nullptr};
  if (what.body == 0) {
    unmatched.contents.reset(new std::byte[what.bytes + 1]);
    std::memcpy(unmatched.contents.get(), message + sizeof what, what.bytes);
  }
  if (found != groups_.end())
    found->second->enqueue(std::move(unmatched));
  else
    early_arrivals_[what.group].push_back(std::move(unmatched));
}

}  // namespace tutti::mpi

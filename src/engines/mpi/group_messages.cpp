// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/group_messages.hpp"

#include <cstring>

#include <sched.h>

#include "engines/mpi/group_context.hpp"

namespace tutti::mpi {

// Cancels the posted receives. Unsent copies are leaked, because MPI may read them until the
// process ends.
group_messages::~group_messages() {
  int over = 0;
  if (!object_pool_ || MPI_Finalized(&over) != MPI_SUCCESS || over) return;
  const double end = seconds_now() + 2;
  while (!all_sent() && seconds_now() < end) sched_yield();
  if (!all_sent()) new std::deque<copy>(std::move(copies_));
  for (place& one : *object_pool_) {
    if (one.request == MPI_REQUEST_NULL) continue;
    MPI_Cancel(&one.request);
    MPI_Wait(&one.request, MPI_STATUS_IGNORE);
  }
}

void group_messages::open(group_context& one) {
  if (!object_pool_) [[unlikely]]
    listen();
  groups_.emplace(one.name(), &one);
  if (early_.empty()) return;
  const auto found = early_.find(one.name());
  if (found == early_.end()) return;
  for (arrival& a : found->second) one.take(std::move(a));
  early_.erase(found);
}

void group_messages::close(group_context& one) noexcept { groups_.erase(one.name()); }

void group_messages::listen() {
  object_pool_ = std::make_unique<std::array<place, 16>>();
  bodies_.resize(static_cast<std::size_t>(ep_.size()));
  for (place& one : *object_pool_) await(one);
}

void group_messages::await(place& one) {
  check(MPI_Irecv(one.bytes.data(), static_cast<int>(one.bytes.size()), MPI_BYTE, MPI_ANY_SOURCE, 0, comm_,
                  &one.request),
        "receiving", ep_.rank());
}

// --- Sending.

// Copies are used in turn. If the least recently used one is not free, a new one is made.
group_messages::copy& group_messages::unused_copy() {
  if (!copies_.empty()) {
    copy& oldest = copies_[next_copy_];
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

bool group_messages::send(int to, head what, const void* data, bool synchronous, transfer& t,
                          const char* operation) {
  const bool behind = what.bytes <= at_once && !synchronous;
  if (!behind) {
    std::int32_t& sent = bodies_[static_cast<std::size_t>(to)];
    what.body = 1 + sent;
    sent = (sent + 1) % ep_.max_tag();
  }
  copy& one = unused_copy();
  std::memcpy(one.bytes.data(), &what, sizeof what);
  std::size_t bytes = sizeof what;
  if (behind && what.bytes != 0) {
    std::memcpy(one.bytes.data() + bytes, data, what.bytes);
    bytes += what.bytes;
  }
  check(MPI_Isend(one.bytes.data(), static_cast<int>(bytes), MPI_BYTE, to, 0, comm_, &one.request), operation,
        ep_.rank());
  if (behind) return true;
  message& m = ep_.begin_message(t, false, to, what.bytes);
  stretch s = ep_.types().of(element{}, what.bytes);
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
  for (copy& one : copies_) {
    int flag = 1;
    if (one.request != MPI_REQUEST_NULL && MPI_Test(&one.request, &flag, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
        !flag)
      return false;
  }
  return true;
}

// --- Receiving.

void group_messages::receive(int from, const head& what, void* into, transfer& t, const char* operation) {
  message& m = ep_.begin_message(t, true, from, what.bytes);
  stretch s = ep_.types().of(element{}, what.bytes);
  const int code = MPI_Irecv(into, s.count, s.type, from, what.body, comm_, &m.request);
  s.free();
  if (code != MPI_SUCCESS) [[unlikely]] {
    ep_.end_message(t);
    throw_mpi_error(code, operation, ep_.rank());
  }
}

void group_messages::take_in(int from, const head& what) {
  const std::unique_ptr<std::byte[]> nowhere(new std::byte[what.bytes + 1]);
  stretch s = ep_.types().of(element{}, what.bytes);
  MPI_Recv(nowhere.get(), s.count, s.type, from, what.body, comm_, MPI_STATUS_IGNORE);
  s.free();
}

void group_messages::forget() noexcept {
  for (const auto& [name, one] : groups_) one->forget();
}

void group_messages::poll(const char* operation) {
  if (!object_pool_) return;
  for (;;) {
    place& one = (*object_pool_)[next_place_];
    int flag = 0;
    check(MPI_Test(&one.request, &flag, MPI_STATUS_IGNORE), operation, ep_.rank());
    if (!flag) return;
    next_place_ = (next_place_ + 1) % object_pool_->size();
    deliver(one.bytes.data());
    await(one);
  }
}

void group_messages::deliver(const std::byte* message) {
  head what;
  std::memcpy(&what, message, sizeof what);
  const auto found = groups_.find(what.group);
  if (found != groups_.end() && found->second->take_at_once(what, message + sizeof what)) return;
  arrival kept{what, nullptr};
  if (what.body == 0) {
    kept.contents.reset(new std::byte[what.bytes + 1]);
    std::memcpy(kept.contents.get(), message + sizeof what, what.bytes);
  }
  if (found != groups_.end())
    found->second->take(std::move(kept));
  else
    early_[what.group].push_back(std::move(kept));
}

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/hop.hpp"

#include <cstring>

#include "transport/shm/length_mismatch.hpp"

namespace tutti::detail {

void hop::begin(const leg& l) {
  state& s = legs_[leg_count_++];
  static_cast<leg&>(s) = l;
  if (where_.ep().node() != nullptr) {
    s.out = s.to < 0 ? nullptr : peers_.to(s.to).out;
    s.in = s.from < 0 ? nullptr : peers_.to(s.from).in;
    return;
  }
  if (s.from >= 0) where_.irecv(s.from, call_id, s.into, s.received, s.receiving);
  if (s.to >= 0) where_.isend(s.to, call_id, s.data, s.bytes, s.sending);
}

template <class Step>
bool hop::for_each_leg(Step&& step) {
  for (int i = 0; i < leg_count_; ++i)
    if (!step(legs_[i])) return false;
  return true;
}

// Everything is sent before any wait, so that both sides of a pair proceed at once.
bool hop::advance(bool blocking) {
  if (where_.ep().node() == nullptr) {
    if (!for_each_leg([&](state& s) {
          return end_message(s.from, s.receiving, "a message from", blocking) &&
                 end_message(s.to, s.sending, "a message to be sent to", blocking);
        }))
      return false;
    where_.ep().progressed();
    return true;
  }
  return for_each_leg([&](state& s) { return send(s, blocking); }) &&
         for_each_leg([&](state& s) { return receive(s, blocking); }) &&
         for_each_leg([&](state& s) { return is_read(s, blocking); });
}

bool hop::send(state& s, bool blocking) {
  if (s.to < 0 || s.posted) return true;
  while (!s.out->has_space()) {
    if (!blocking) return false;
    where_.ep().wait(s.out->consumed_word(), s.out->consumed_value(), s.out->same_worker(),
                     site("space in the channel to", s.out->to()));
  }
  s.read.store(shm::channel::is_rendezvous(s.bytes) ? 0 : 1, std::memory_order_relaxed);
  s.out->post(where_.id() << 24 | call_id, s.data, s.bytes, &s.read);
  s.posted = true;
  ++progress_count_;
  return true;
}

bool hop::receive(state& s, bool blocking) {
  if (s.from < 0) return true;
  shm::arrival a;
  while (!s.in->find(where_.id() << 24 | call_id, a)) {
    if (!blocking) return false;
    where_.ep().wait(s.in->published_word(), s.in->published_value(), s.in->same_worker(),
                     site("a message from", s.in->from()));
  }
  if (a.bytes != s.received) {
    const int rank = where_.members().rank();
    throw_length_mismatch(
        operation_, rank,
        {.sender = s.from,
         .receiver = rank,
         .actual = a.bytes,
         .expected = s.received,
         .parameter = "",
         .remedy = "call it on all members, with the same arguments where its documentation requires them"},
        [](const auto& e) { throw e; });
  }
  if (a.done != nullptr) {
    const shm::reading guard(where_.ep(), site("a direct read from the memory of", s.in->from()));
    std::memcpy(s.into, a.data, a.bytes);
  } else if (a.bytes != 0) {
    std::memcpy(s.into, a.data, a.bytes);
  }
  s.in->consume(a);
  s.from = -1;
  ++progress_count_;
  return true;
}

bool hop::is_read(state& s, bool blocking) {
  if (s.to >= 0 && s.read.load(std::memory_order_acquire) == 0) {
    if (!blocking) return false;
    where_.ep().wait(s.read, 1, s.out->same_worker(), site("its data to be read by", s.out->to()));
  }
  s.to = -1;
  return true;
}

bool hop::end_message(int& peer, transfer& t, const char* what, bool blocking) {
  while (peer >= 0 && !where_.done(t, site(what, where_.members().address(peer)))) {
    if (!blocking) return false;
    where_.ep().pause(site(what, where_.members().address(peer)));
  }
  if (peer >= 0) ++progress_count_;
  peer = -1;
  return true;
}

shm::wait_site hop::site(const char* what, int peer) const noexcept {
  return {operation_, "", what, peer, -1, shm::wait_site::unnumbered};
}

}  // namespace tutti::detail

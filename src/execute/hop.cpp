// SPDX-License-Identifier: Apache-2.0
#include "execute/hop.hpp"

#include <cstring>
#include <string>

#include "tutti/core/error.hpp"

namespace tutti {

void hop::begin(int to, const void* data, std::size_t bytes, int from, void* into, std::size_t received) {
  to_ = to;
  from_ = from;
  data_ = data;
  bytes_ = bytes;
  into_ = into;
  received_ = received;
  posted_ = false;
  if (where_.door().node() != nullptr) {
    out_ = to < 0 ? nullptr : peers_.to(to).out;
    in_ = from < 0 ? nullptr : peers_.to(from).in;
    return;
  }
  if (from >= 0) where_.irecv(from, number, into, received, receiving_);
  if (to >= 0) where_.isend(to, number, data, bytes, sending_);
}

bool hop::go_on(bool blocking) {
  if (where_.door().node() == nullptr) return both_by_messages(blocking);
  if (to_ >= 0 && !posted_ && !send(blocking)) return false;
  if (from_ >= 0 && !receive(blocking)) return false;
  if (to_ >= 0 && read_.load(std::memory_order_acquire) == 0) {
    if (!blocking) return false;
    where_.door().wait(read_, 1, out_->same_worker(), site("its data to be read by", out_->to()));
  }
  to_ = -1;
  return true;
}

bool hop::send(bool blocking) {
  while (!out_->has_room()) {
    if (!blocking) return false;
    where_.door().wait(out_->room_word(), out_->room_value(), out_->same_worker(),
                       site("room in the channel to", out_->to()));
  }
  read_.store(fabric::channel::is_rendezvous(bytes_) ? 0 : 1, std::memory_order_relaxed);
  out_->post(where_.id() << 24 | number, data_, bytes_, &read_);
  posted_ = true;
  ++moves_;
  return true;
}

bool hop::receive(bool blocking) {
  fabric::arrival a;
  while (!in_->look(where_.id() << 24 | number, a)) {
    if (!blocking) return false;
    where_.door().wait(in_->arrival_word(), in_->arrival_value(), in_->same_worker(),
                       site("a message from", in_->from()));
  }
  if (a.bytes != received_)
    throw mismatch_error(operation_, where_.members().rank(), "",
                         "rank " + std::to_string(from_) + " sent " + std::to_string(a.bytes) +
                             " bytes where this rank expects " + std::to_string(received_),
                         "call it on all members, with the same arguments where it says so");
  if (a.done != nullptr) {
    const fabric::reading guard(where_.door(), site("a look into the memory of", in_->from()));
    std::memcpy(into_, a.data, a.bytes);
  } else if (a.bytes != 0) {
    std::memcpy(into_, a.data, a.bytes);
  }
  in_->take(a);
  from_ = -1;
  ++moves_;
  return true;
}

bool hop::both_by_messages(bool blocking) {
  const auto ended = [&](int& peer, transfer& t, const char* what) {
    while (peer >= 0 && !where_.done(t, site(what, where_.members().address(peer)))) {
      if (!blocking) return false;
      where_.door().pause(site(what, where_.members().address(peer)));
    }
    if (peer >= 0) ++moves_;
    peer = -1;
    return true;
  };
  if (!ended(from_, receiving_, "a message from") || !ended(to_, sending_, "a message to be sent to"))
    return false;
  where_.door().progressed();
  return true;
}

fabric::wait_site hop::site(const char* what, int peer) const noexcept {
  return {operation_, "", what, peer, -1, fabric::wait_site::unnumbered};
}

}  // namespace tutti

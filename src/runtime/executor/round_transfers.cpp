// SPDX-License-Identifier: Apache-2.0
//
// Runs rounds of many transfers, transfers through the engine, and rounds that are left and entered
// again.
#include <algorithm>

#include "runtime/executor/places.hpp"

namespace tutti::detail {

void schedule_run::open_round(const item& r) {
  if (sending_count_ < r.sends) {
    sendings_.reset(new sending[bound_->max_sends]);
    sending_count_ = bound_->max_sends;
  }
  if (receiving_count_ < r.recvs) {
    receivings_.reset(new receiving[bound_->max_recvs]);
    receiving_count_ = bound_->max_recvs;
  }
  const step* steps = bound_->plan.steps.data() + r.first;
  remaining_ = static_cast<std::size_t>(r.sends) + r.recvs;
  std::byte* staging = staging_;
  for (std::size_t i = 0; i < r.recvs; ++i) {
    receiving& one = receivings_[i];
    const step& s = steps[r.sends + i];
    one.stage = 0;
    one.complete = false;
    if (s.kind == step_kind::await_signal) continue;
    const range to = locate(s.target);
    if (!to.exists) {
      one.complete = true;
      --remaining_;
      continue;
    }
    const link& l = link_of(r, r.sends + i);
    if (l.in != nullptr) continue;
    one.into = to.data;
    if (s.kind == step_kind::recv_reduce) {
      one.into = staging;
      staging += (to.bytes + 63) / 64 * 64;
    }
    bound_->where.irecv(peer_of(s), call_id_, one.into, to.bytes, one.message);
  }
  for (std::size_t i = 0; i < r.sends; ++i) {
    sending& one = sendings_[i];
    const step& s = steps[i];
    one.stage = 0;
    one.complete = false;
    if (s.kind == step_kind::send && !locate(s.source).exists) {
      one.complete = true;
      --remaining_;
    }
  }
  opened_ = true;
}

// Stages of a send: 0 not begun, 1 header in progress (put, signal), 2 ready for the data, 3 data
// in progress.
bool schedule_run::try_send(sending& s, const step& what, const link& l) {
  shm::channel* const c = l.out;
  const bool has_header = what.kind != step_kind::send;
  if (s.stage == 0) {
    if (has_header) {
      const range from = locate(what.source);
      s.header[0] = what.kind == step_kind::signal
                        ? ~std::uint64_t{0}
                        : static_cast<std::uint64_t>(locate(what.target).data -
                                                     base_[static_cast<int>(buffer::output)]);
      s.header[1] = from.bytes;
      if (c != nullptr) {
        if (!c->has_space()) return false;
        c->post(tag_, s.header, sizeof s.header, nullptr);
      } else {
        bound_->where.isend(peer_of(what), call_id_, s.header, sizeof s.header, s.message);
        s.stage = 1;
      }
    }
    if (s.stage == 0) s.stage = 2;
  }
  if (s.stage == 1) {
    if (!bound_->where.done(s.message,
                            site("a message to be sent to", bound_->where.members().address(peer_of(what)))))
      return false;
    s.stage = 2;
  }
  if (what.kind == step_kind::signal) return true;
  if (s.stage == 2) {
    const range from = locate(what.source);
    if (c != nullptr) {
      if (!c->has_space()) return false;
      const bool rendezvous = shm::channel::is_rendezvous(from.bytes);
      s.done.store(rendezvous ? 0 : 1, std::memory_order_relaxed);
      c->post(tag_, from.data, from.bytes, &s.done);
      if (!rendezvous) return true;
    } else {
      bound_->where.isend(peer_of(what), call_id_, from.data, from.bytes, s.message);
    }
    s.stage = 3;
  }
  if (c != nullptr) return s.done.load(std::memory_order_acquire) != 0;
  return bound_->where.done(s.message,
                            site("a message to be sent to", bound_->where.members().address(peer_of(what))));
}

bool schedule_run::try_receive(receiving& r, const step& what, const link& l) {
  if (what.kind == step_kind::await_signal) return try_await(r, what, l);
  const range to = locate(what.target);
  if (l.in != nullptr) {
    shm::arrival a;
    if (!l.in->find(tag_, a)) return false;
    if (a.bytes != to.bytes) throw_wrong_length(what, a.bytes, to.bytes);
    if (a.done == nullptr)
      deliver(what, to, a.data, a.bytes);
    else
      deliver_remote(what, to, a);
    l.in->consume(a);
    return true;
  }
  if (!bound_->where.done(r.message, site("a message from", bound_->where.members().address(peer_of(what)))))
    return false;
  if (what.kind == step_kind::recv_reduce) deliver(what, to, r.into, to.bytes);
  return true;
}

// Receives the peer's puts until its signal. Stages: 0 a header is next, 1 header receive posted, 2
// data are next, 3 data receive posted.
bool schedule_run::try_await(receiving& r, const step& what, const link& l) {
  std::byte* const target = base_[static_cast<int>(buffer::output)];
  const auto wait_at = site("a signal from", bound_->where.members().address(peer_of(what)));
  for (;;) {
    shm::arrival a;
    if (l.in != nullptr) {
      if (!l.in->find(tag_, a)) return false;
      if (r.stage == 0) {
        std::memcpy(r.header, a.data, sizeof r.header);
        l.in->consume(a);
        if (r.header[0] == ~std::uint64_t{0}) return true;
        r.stage = 2;
      } else {
        const shm::reading guard(bound_->where.ep(), wait_at);
        compute::copy(target + r.header[0], a.data, a.bytes);
        l.in->consume(a);
        r.stage = 0;
      }
      continue;
    }
    if (r.stage == 0) {
      bound_->where.irecv(peer_of(what), call_id_, r.header, sizeof r.header, r.message);
      r.stage = 1;
    } else if (r.stage == 2) {
      bound_->where.irecv(peer_of(what), call_id_, target + r.header[0], r.header[1], r.message);
      r.stage = 3;
    }
    if (!bound_->where.done(r.message, wait_at)) return false;
    if (r.stage == 1 && r.header[0] == ~std::uint64_t{0}) return true;
    r.stage = r.stage == 1 ? 2 : 0;
  }
}

bool schedule_run::all_transfers(const item& r, bool blocking) {
  const step* steps = bound_->plan.steps.data() + r.first;
  if (!opened_) open_round(r);
  while (remaining_ != 0) {
    const std::size_t before = remaining_;
    // Messages to one peer stay in order: the data of a put follow its header, and a signal follows
    // the puts.
    for (std::size_t i = 0; i < r.sends; ++i) {
      sending& s = sendings_[i];
      if (s.complete) continue;
      const link& l = link_of(r, i);
      bool blocked = false;
      for (std::size_t k = 0; k < i && !blocked; ++k)
        blocked = !sendings_[k].complete && sendings_[k].stage < 3 && peer_of(steps[k]) == peer_of(steps[i]);
      if (blocked || !try_send(s, steps[i], l)) continue;
      s.complete = true;
      --remaining_;
    }
    // Messages of one peer arrive in the order in which the round lists them.
    for (std::size_t i = 0; i < r.recvs; ++i) {
      receiving& one = receivings_[i];
      if (one.complete) continue;
      const link& l = link_of(r, r.sends + i);
      bool blocked = false;
      if (l.in != nullptr || steps[r.sends + i].kind == step_kind::await_signal)
        for (std::size_t k = 0; k < i && !blocked; ++k)
          blocked = !receivings_[k].complete && peer_of(steps[r.sends + k]) == peer_of(steps[r.sends + i]);
      if (blocked || !try_receive(one, steps[r.sends + i], l)) continue;
      one.complete = true;
      --remaining_;
    }
    progress_count_ += before - remaining_;
    if (remaining_ == 0) break;
    if (!blocking) return false;
    if (remaining_ == before)
      wait_for_one(r);
    else
      bound_->where.ep().progressed();
  }
  opened_ = false;
  return true;
}

// All transfers must complete. So it is enough to wait for the first incomplete one, if all sends
// are posted.
void schedule_run::wait_for_one(const item& r) {
  const step* steps = bound_->plan.steps.data() + r.first;
  endpoint& ep = bound_->where.ep();
  const group& members = bound_->where.members();
  if (ep.node() == nullptr) {
    ep.pause(site("messages"));
    return;
  }
  const sending* unposted = nullptr;
  const sending* unread = nullptr;
  const link *unposted_link = nullptr, *unread_link = nullptr;
  for (std::size_t i = 0; i < r.sends; ++i) {
    const sending& s = sendings_[i];
    if (s.complete) continue;
    (s.stage == 3 ? unread : unposted) = &s;
    (s.stage == 3 ? unread_link : unposted_link) = &link_of(r, i);
  }
  for (std::size_t i = 0; i < r.recvs; ++i) {
    if (receivings_[i].complete) continue;
    shm::channel& c = *link_of(r, r.sends + i).in;
    if (unposted != nullptr) {
      ep.pause(site("a message from", c.from()));
    } else {
      const char* what =
          steps[r.sends + i].kind == step_kind::await_signal ? "a signal from" : "a message from";
      ep.wait(c.published_word(), c.published_value(), c.same_worker(),
              site(what, members.address(peer_of(steps[r.sends + i]))));
    }
    return;
  }
  if (unposted != nullptr) {
    shm::channel& c = *unposted_link->out;
    ep.wait(c.consumed_word(), c.consumed_value(), c.same_worker(), site("space in the channel to", c.to()));
  } else if (unread != nullptr) {
    shm::channel& c = *unread_link->out;
    ep.wait(unread->done, 1, c.same_worker(), site("its data to be read by", c.to()));
  }
}

}  // namespace tutti::detail

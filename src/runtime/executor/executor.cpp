// SPDX-License-Identifier: Apache-2.0
//
// Walks through the items, loops and rounds of a schedule.
#include "runtime/executor/executor.hpp"

#include <algorithm>
#include <string>

#include "runtime/executor/places.hpp"
#include "transport/shm/length_mismatch.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

void schedule_run::set_up(bound_schedule& b, const call& c, std::uint32_t call_id) noexcept {
  bound_ = &b;
  call_ = &c;
  call_id_ = call_id;
  tag_ = tag_of(b, call_id);
  unit_ = c.count * c.type.size;
  base_[0] = operand_of(c);
  base_[1] = static_cast<std::byte*>(c.output);
  pc_ = 0;
}

void schedule_run::begin(bound_schedule& b, const call& c, std::uint32_t call_id) {
  set_up(b, c, call_id);
  tag_ |= static_cast<std::uint64_t>(call_id & inner_run) << 32;
  depth_ = 0;
  complete_ = opened_ = native_begun_ = false;
  interleaves_ = b.interleaves;
  if (b.plan.words != 0) [[unlikely]] {
    words_.assign(static_cast<std::size_t>(b.plan.words), 0);
    prefix_.origin = -1;
    base_[static_cast<int>(buffer::words)] = reinterpret_cast<std::byte*>(words_.data());
  }
  if (b.needs_memory && (scratch_owner_ != &b || scratch_unit_ != unit_ || scratch_element_ != c.type.size ||
                         b.sized_by_counts))
    allocate_scratch();
}

// A native collective: one item of a schedule, usually the only one.
bool schedule_run::native(bool blocking) {
  const auto wait_at = site("the engine's own collective");
  if (blocking && !native_begun_) {
    bound_->where.native(*call_, wait_at);
    return true;
  }
  if (!native_begun_) bound_->where.native_begin(*call_, native_);
  native_begun_ = true;
  return bound_->where.native_progress(native_, blocking, wait_at);
}

bool schedule_run::advance(bool blocking) {
  const auto& items = bound_->plan.items;
  while (pc_ < items.size()) {
    const item& i = items[pc_];
    switch (i.kind) {
      case item_kind::round: {
        const bound_exchange& e = bound_->exchanges[pc_];
        if (e.simple && blocking && !opened_) [[likely]] {
          exchange(e.out, e.to, e.in, e.from);
          ++progress_count_;
        } else if (!round(i, blocking)) {
          return false;
        }
        ++pc_;
        break;
      }
      case item_kind::loop: {
        const std::int32_t n = trips(i.trips);
        if (n <= 0) {
          pc_ = i.first + 1;
        } else {
          loops_[depth_++] = {pc_, 0, n};
          ++pc_;
        }
        break;
      }
      case item_kind::end_loop: {
        loop_state& l = loops_[depth_ - 1];
        if (++l.i < l.n) {
          pc_ = l.head + 1;
        } else {
          --depth_;
          ++pc_;
        }
        break;
      }
      case item_kind::native:
        if (!native(blocking)) return false;
        ++pc_;
        break;
    }
  }
  complete_ = true;
  return true;
}

const link& schedule_run::link_of(const item& r, std::size_t i) {
  const std::size_t at = r.first + i;
  const step& s = bound_->plan.steps[at];
  if (s.peer.is_constant()) return bound_->step_links[at];
  return bound_->peers.to(peer_of(s));
}

bool schedule_run::round(const item& r, bool blocking) {
  const step* steps = bound_->plan.steps.data() + r.first;
  endpoint& ep = bound_->where.ep();
  if (interleaves_) [[unlikely]]
    ep.preempt();
  if (r.sends + r.recvs != 0) {
    const bool small = r.sends <= 1 && r.recvs <= 1 && blocking && !opened_ &&
                       (r.sends == 0 || steps[0].kind == step_kind::send) &&
                       (r.recvs == 0 || steps[r.sends].kind != step_kind::await_signal);
    if (small && ep.node() != nullptr) {
      exchange(r.sends != 0 ? steps : nullptr, r.sends != 0 ? link_of(r, 0).out : nullptr,
               r.recvs != 0 ? steps + r.sends : nullptr, r.recvs != 0 ? link_of(r, r.sends).in : nullptr);
    } else if (small) {
      engine_exchange(r.sends != 0 ? steps : nullptr, r.recvs != 0 ? steps + r.sends : nullptr);
    } else if (!all_transfers(r, blocking)) {
      return false;
    }
  }
  for (int i = r.sends + r.recvs, end = i + r.locals; i < end; ++i) local(steps[i]);
  ++progress_count_;
  return true;
}

// The waits are out of line, so that the frequent path stays compact.
void schedule_run::wait_for_space(shm::channel& c) {
  do
    bound_->where.ep().wait(c.consumed_word(), c.consumed_value(), c.same_worker(),
                            site("space in the channel to", c.to()));
  while (!c.has_space());
}
void schedule_run::wait_for_message(shm::channel& c, shm::arrival& a) {
  do
    bound_->where.ep().wait(c.published_word(), c.published_value(), c.same_worker(),
                            site("a message from", c.from()));
  while (!c.find(tag_, a));
}
void schedule_run::wait_until_read(shm::channel& c) {
  while (sent_done_.load(std::memory_order_acquire) == 0)
    bound_->where.ep().wait(sent_done_, 1, c.same_worker(), site("its data to be read by", c.to()));
}

void schedule_run::receive(const step& in, shm::channel& from) {
  const range to = locate(in.target);
  if (!to.exists) return;
  shm::arrival a;
  if (!from.find(tag_, a)) wait_for_message(from, a);
  if (a.bytes != to.bytes) [[unlikely]]
    throw_wrong_length(in, a.bytes, to.bytes);
  if (a.done == nullptr) [[likely]] {
    deliver(in, to, a.data, a.bytes);
  } else {
    deliver_remote(in, to, a);
  }
  from.consume(a);
}

// The round of most algorithms: at most one message each way, over channels, with waits inside.
inline void schedule_run::exchange(const step* out, shm::channel* to, const step* in, shm::channel* from) {
  bool rendezvous = false;
  if (out != nullptr) {
    const range data = locate(out->source);
    if (data.exists) {
      if (!to->has_space()) [[unlikely]]
        wait_for_space(*to);
      rendezvous = shm::channel::is_rendezvous(data.bytes);
      if (rendezvous) sent_done_.store(0, std::memory_order_relaxed);
      to->post(tag_, data.data, data.bytes, &sent_done_);
    }
  }
  if (in != nullptr) receive(*in, *from);
  if (rendezvous) wait_until_read(*to);
}

// Reads the data directly from the sender's memory.
void schedule_run::deliver_remote(const step& s, const range& to, const shm::arrival& a) {
  const shm::reading guard(bound_->where.ep(), site("a direct read from the memory of"));
  deliver(s, to, a.data, a.bytes);
}

// The same exchange by messages of the engine. The send is begun first, because the peer waits for
// it. The receive can be posted meanwhile.
void schedule_run::engine_exchange(const step* out, const step* in) {
  context& c = bound_->where;
  transfer sent, received;
  transfer *sending = nullptr, *receiving = nullptr;
  range to{};
  std::byte* into = nullptr;
  int peer = -1;
  if (out != nullptr) {
    const range from = locate(out->source);
    if (from.exists) {
      peer = peer_of(*out);
      c.isend(peer, call_id_, from.data, from.bytes, *(sending = &sent));
    }
  }
  if (in != nullptr && (to = locate(in->target)).exists) {
    into = in->kind == step_kind::recv_reduce ? staging_ : to.data;
    peer = peer_of(*in);
    c.irecv(peer, call_id_, into, to.bytes, *(receiving = &received));
  }
  if (peer < 0) return;
  c.wait_both(
      receiving, sending,
      site(receiving != nullptr ? "a message from" : "a message to be sent to", c.members().address(peer)));
  if (receiving != nullptr && in->kind == step_kind::recv_reduce) deliver(*in, to, into, to.bytes);
}

void schedule_run::local(const step& s) {
  if (s.kind == step_kind::reserve) return reserve(s.target);
  const range from = locate(s.source), to = locate(s.target);
  if (!from.exists || !to.exists) return;
  switch (s.kind) {
    case step_kind::copy: {
      const std::size_t bytes = s.source.how == partition::padded ? to.bytes : from.bytes;
      if (from.data != to.data) compute::copy(to.data, from.data, bytes);
      return;
    }
    case step_kind::measure:
      *reinterpret_cast<std::uint64_t*>(to.data) = from.bytes / call_->type.size;
      return;
    case step_kind::maximum: {
      const range other = locate(s.other);
      *reinterpret_cast<std::uint64_t*>(to.data) =
          std::max(*reinterpret_cast<const std::uint64_t*>(from.data),
                   *reinterpret_cast<const std::uint64_t*>(other.data));
      return;
    }
    default: {
      const range right = locate(s.other);
      call_->op.combine(from.data, right.data, to.data, from.bytes / call_->type.size, call_->op.state);
    }
  }
}

const char* reported_algorithm(const call& c, const char* name) noexcept {
  return c.on_behalf == 0 ? name : "an exchange before it";
}

shm::wait_site schedule_run::site(const char* what, int peer) const noexcept {
  return {called(*call_), reported_algorithm(*call_, bound_->name), what, peer, static_cast<int>(pc_),
          call_id_};
}

void schedule_run::throw_wrong_length(const step& s, std::size_t received, std::size_t expected) const {
  const int rank = bound_->where.ep().rank();
  throw_length_mismatch(called(*call_), rank,
                        {bound_->where.members().address(peer_of(s)), rank, received, expected},
                        [](const auto& e) { throw e; });
}

}  // namespace tutti::detail

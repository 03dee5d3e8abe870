// SPDX-License-Identifier: Apache-2.0
#include "execute/executor.hpp"

#include <algorithm>
#include <string>

#include "compute/kernels.hpp"
#include "tutti/core/error.hpp"

namespace tutti {

// --- links and binding ----------------------------------------------------------------------------------------

links::links(context& c) : context_(c), pages_(static_cast<std::size_t>(c.members().size() / page_size + 1)) {}

const link& links::to(int peer) {
  auto& page = pages_[static_cast<std::size_t>(peer / page_size)];
  if (!page) page.reset(new link[page_size]);
  link& l = page[static_cast<std::size_t>(peer % page_size)];
  if (l.out == nullptr) {
    if (fabric::node* node = context_.door().node()) {
      const int me = context_.door().rank(), other = context_.members().address(peer);
      l.out = &node->between(me, other);
      l.in = &node->between(other, me);
    }
  }
  return l;
}

bound_schedule::bound_schedule(const char* its_name, schedule s, context& c, links& p)
    : name(its_name), plan(std::move(s)), where(c), peers(p) {
  step_links.resize(plan.steps.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const step& one = plan.steps[i];
    if (one.kind == step_kind::copy || one.kind == step_kind::reduce || !one.peer.is_constant()) continue;
    const int size = c.members().size();
    const int peer = one.peer.modulus > 0 ? ((one.peer.base % one.peer.modulus) + one.peer.modulus) % one.peer.modulus
                                          : one.peer.base;
    if (peer >= 0 && peer < size) step_links[i] = p.to(peer);
  }
  restless = c.door().restless();
  exchanges.resize(plan.items.size());
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    const item& r = plan.items[i];
    if (r.kind != item_kind::round || r.sends > 1 || r.recvs > 1 || r.sends + r.recvs == 0 || r.locals != 0 || restless ||
        c.door().node() == nullptr)
      continue;
    bound_exchange e;
    e.simple = true;
    if (r.sends == 1) {
      e.out = &plan.steps[r.first];
      e.to = step_links[r.first].out;
      e.simple = e.simple && e.out->kind == step_kind::send && e.out->peer.is_constant();
    }
    if (r.recvs == 1) {
      e.in = &plan.steps[r.first + r.sends];
      e.from = step_links[r.first + r.sends].in;
      e.simple = e.simple && e.in->kind != step_kind::await_signal && e.in->peer.is_constant();
    }
    exchanges[i] = e;
  }
  straight = !exchanges.empty() && std::all_of(exchanges.begin(), exchanges.end(), [](const bound_exchange& e) { return e.simple; });
  for (const scratch_size& one : plan.scratch) {
    needs_memory = needs_memory || one.blocks != 0 || one.bytes != 0;
    sized_by_counts = sized_by_counts || (one.blocks != 0 && (one.how == table::in || one.how == table::out));
  }
  if (c.door().node() == nullptr)
    for (const step& one : plan.steps) needs_memory = needs_memory || one.kind == step_kind::recv_reduce;
  straight = straight && !needs_memory;
  tag_base = c.id() << 24;
  for (const item& i : plan.items) {
    most_sends = std::max<std::size_t>(most_sends, i.sends);
    most_recvs = std::max<std::size_t>(most_recvs, i.recvs);
  }
}

// --- where things are -------------------------------------------------------------------------------------------

inline int schedule_run::resolve(const index& i) const noexcept {
  int value = i.base;
  if (depth_ > 0) {
    value += i.inner * loops_[depth_ - 1].i;
    if (depth_ > 1) value += i.outer * loops_[0].i;
  }
  if (i.modulus > 0) {
    value %= i.modulus;
    if (value < 0) value += i.modulus;
  }
  return value;
}

std::size_t schedule_run::segment_bytes() const noexcept {
  const std::size_t element = call_->type.size, wanted = bound_->plan.segment_bytes;
  return std::max<std::size_t>(wanted - wanted % element, element);
}

void schedule_run::table_range(const place& p, int first, std::size_t& offset, std::size_t& bytes) const noexcept {
  const std::size_t element = call_->type.size;
  const auto from = static_cast<std::size_t>(first);
  switch (p.how) {
    case table::uniform:
      offset = from * unit_;
      bytes = static_cast<std::size_t>(p.blocks) * unit_;
      return;
    case table::split: {
      const auto parts = static_cast<std::size_t>(bound_->plan.parts);
      const std::size_t quotient = call_->count / parts, rest = call_->count % parts;
      const std::size_t to = from + static_cast<std::size_t>(p.blocks);
      offset = (from * quotient + std::min(from, rest)) * element;
      bytes = (to * quotient + std::min(to, rest)) * element - offset;
      return;
    }
    case table::in:
      offset = call_->in_displs[from] * element;
      bytes = call_->in_counts[from] * element;
      return;
    case table::out:
      offset = call_->out_displs[from] * element;
      bytes = call_->out_counts[from] * element;
      return;
  }
  offset = bytes = 0;
}

inline schedule_run::range schedule_run::locate(const place& p) const noexcept {
  if (p.plain) [[likely]]
    return {base_[static_cast<int>(p.where)] + static_cast<std::size_t>(p.first.base) * unit_,
            static_cast<std::size_t>(p.blocks) * unit_, true};
  return locate_indexed(p);
}

schedule_run::range schedule_run::locate_indexed(const place& p) const noexcept {
  const int first = resolve(p.first);
  std::byte* const base = base_[static_cast<int>(p.where)];
  if (p.how == table::uniform && !p.segmented && !p.packed)
    return {base + static_cast<std::size_t>(first) * unit_, static_cast<std::size_t>(p.blocks) * unit_, true};
  std::size_t offset, bytes;
  table_range(p, first, offset, bytes);
  if (p.packed) offset = 0;
  if (p.segmented) {
    const int segment = resolve(p.segment);
    const std::size_t each = segment_bytes();
    const std::size_t at = static_cast<std::size_t>(segment) * each;
    if (segment < 0 || at >= bytes) return {base, 0, false};
    return {base + offset + at, std::min(each, bytes - at), true};
  }
  return {base + offset, bytes, true};
}

std::int32_t schedule_run::trips(const trip_count& t) const noexcept {
  if (t.per_segment == 0) return t.fixed;
  const std::size_t element = call_->type.size;
  std::size_t longest = unit_;
  if (t.per_segment == 2) {
    const auto parts = static_cast<std::size_t>(bound_->plan.parts);
    longest = (call_->count + parts - 1) / parts * element;
  }
  const std::size_t each = segment_bytes();
  return t.fixed + static_cast<std::int32_t>((longest + each - 1) / each);
}

// Scratch buffers, and a place where received operands stand before they are combined where the engine cannot show
// them in place.
void schedule_run::allot() {
  const schedule& s = bound_->plan;
  std::size_t sizes[scratch_count], sum = 0;
  for (int i = 0; i < scratch_count; ++i) {
    const scratch_size& want = s.scratch[i];
    std::size_t block = unit_;
    if (want.how == table::split) {
      const auto parts = static_cast<std::size_t>(s.parts);
      block = (call_->count + parts - 1) / parts * call_->type.size;
    } else if (want.how == table::in || want.how == table::out) {
      const counts_view& counts = want.how == table::in ? call_->in_counts : call_->out_counts;
      block = 0;
      for (std::size_t k = 0; k < counts.size(); ++k) block = std::max(block, counts[k] * call_->type.size);
    }
    sizes[i] = (std::max(static_cast<std::size_t>(want.blocks) * block, want.bytes) + 63) / 64 * 64;
    sum += sizes[i];
  }
  std::size_t staging = 0;
  if (bound_->where.door().node() == nullptr)
    for (const step& one : s.steps)
      if (one.kind == step_kind::recv_reduce) staging = std::max(staging, unit_ * static_cast<std::size_t>(std::max(1, one.target.blocks)));
  staging = (staging + 63) / 64 * 64;
  const std::size_t all = sum + staging * std::max<std::size_t>(1, bound_->most_recvs);
  if (all > memory_bytes_) {
    memory_.reset(new std::byte[all + 64]);
    memory_bytes_ = all;
  }
  auto* at = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory_.get()) + 63) / 64 * 64);
  for (int i = 0; i < scratch_count; ++i) {
    base_[static_cast<int>(buffer::scratch0) + i] = at;
    at += sizes[i];
  }
  staging_ = at;
  allotted_for_ = bound_;
  allotted_unit_ = unit_;
  allotted_element_ = call_->type.size;
}

// --- running ----------------------------------------------------------------------------------------------------

inline void schedule_run::set_up(bound_schedule& b, const call& c, std::uint32_t number) noexcept {
  bound_ = &b;
  call_ = &c;
  number_ = number;
  tag_ = b.tag_base | (number & 0xffffffu);
  unit_ = c.count * c.type.size;
  const bool operand_in_output = c.in_place && c.what != collective::scatter && c.what != collective::scatterv;
  base_[0] = static_cast<std::byte*>(operand_in_output ? c.output : const_cast<void*>(c.input));
  base_[1] = static_cast<std::byte*>(c.output);
  pc_ = 0;
}

void schedule_run::begin(bound_schedule& b, const call& c, std::uint32_t number) {
  set_up(b, c, number);
  depth_ = 0;
  over_ = opened_ = native_begun_ = false;
  restless_ = b.restless;
  if (b.needs_memory &&
      (allotted_for_ != &b || allotted_unit_ != unit_ || allotted_element_ != c.type.size || b.sized_by_counts))
    allot();
}

void schedule_run::run_straight(bound_schedule& b, const call& c, std::uint32_t number) {
  set_up(b, c, number);
  for (const bound_exchange& e : b.exchanges) {
    exchange(e.out, e.to, e.in, e.from);
    ++pc_;
  }
}

// The engine's own collective: one item of a schedule, usually the only one.
bool schedule_run::native(bool blocking) {
  const auto place = site("the engine's own collective");
  if (blocking && !native_begun_) {
    bound_->where.native(*call_, place);
    return true;
  }
  if (!native_begun_) bound_->where.native_begin(*call_, native_);
  native_begun_ = true;
  return bound_->where.native_go_on(native_, blocking, place);
}

bool schedule_run::go_on(bool blocking) {
  const auto& items = bound_->plan.items;
  while (pc_ < items.size()) {
    const item& i = items[pc_];
    switch (i.kind) {
      case item_kind::round: {
        const bound_exchange& e = bound_->exchanges[pc_];
        if (e.simple && blocking && !opened_) [[likely]] {
          exchange(e.out, e.to, e.in, e.from);
          ++moves_;
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
  over_ = true;
  return true;
}

const link& schedule_run::link_of(const item& r, std::size_t i) {
  const std::size_t at = r.first + i;
  const step& s = bound_->plan.steps[at];
  if (s.peer.is_constant()) return bound_->step_links[at];
  return bound_->peers.to(resolve(s.peer));
}

bool schedule_run::round(const item& r, bool blocking) {
  const step* steps = bound_->plan.steps.data() + r.first;
  endpoint& door = bound_->where.door();
  if (restless_) [[unlikely]] door.stir();
  if (r.sends + r.recvs != 0) {
    const bool small = r.sends <= 1 && r.recvs <= 1 && blocking && !opened_ &&
                       (r.sends == 0 || steps[0].kind == step_kind::send) &&
                       (r.recvs == 0 || steps[r.sends].kind != step_kind::await_signal);
    if (small && door.node() != nullptr) {
      exchange(r.sends != 0 ? steps : nullptr, r.sends != 0 ? link_of(r, 0).out : nullptr,
               r.recvs != 0 ? steps + r.sends : nullptr, r.recvs != 0 ? link_of(r, r.sends).in : nullptr);
    } else if (small) {
      engine_exchange(r.sends != 0 ? steps : nullptr, r.recvs != 0 ? steps + r.sends : nullptr);
    } else if (!all_transfers(r, blocking)) {
      return false;
    }
  }
  for (int i = r.sends + r.recvs, end = i + r.locals; i < end; ++i) local(steps[i]);
  ++moves_;
  return true;
}

// Waiting is out of line: what usually happens stays together.
void schedule_run::wait_for_room(fabric::channel& c) {
  do bound_->where.door().wait(c.room_word(), c.room_value(), c.same_worker(), site("room in the mailbox of", c.to()));
  while (!c.has_room());
}
void schedule_run::wait_for_message(fabric::channel& c, fabric::arrival& a) {
  do bound_->where.door().wait(c.arrival_word(), c.arrival_value(), c.same_worker(), site("a message from", c.from()));
  while (!c.look(tag_, a));
}
void schedule_run::wait_for_reader(fabric::channel& c) {
  while (sent_done_.load(std::memory_order_acquire) == 0)
    bound_->where.door().wait(sent_done_, 1, c.same_worker(), site("its data to be read by", c.to()));
}

// The round of most algorithms: at most one message each way, over channels, waiting inside.
inline void schedule_run::exchange(const step* out, fabric::channel* to, const step* in, fabric::channel* from) {
  bool rendezvous = false;
  if (out != nullptr) {
    const range data = locate(out->source);
    if (data.exists) {
      if (!to->has_room()) [[unlikely]] wait_for_room(*to);
      rendezvous = fabric::channel::is_rendezvous(data.bytes);
      if (rendezvous) sent_done_.store(0, std::memory_order_relaxed);
      to->post(tag_, data.data, data.bytes, &sent_done_);
    }
  }
  if (in != nullptr) {
    const range place = locate(in->target);
    if (place.exists) {
      fabric::arrival a;
      if (!from->look(tag_, a)) wait_for_message(*from, a);
      if (a.bytes != place.bytes) [[unlikely]] misfit(*in, a.bytes, place.bytes);
      deliver(*in, place, a.data, a.bytes);
      from->take(a);
    }
  }
  if (rendezvous) wait_for_reader(*to);
}

// The same by messages of the engine. The send goes first: the peer waits for it, and a receive can be posted meanwhile.
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
      peer = resolve(out->peer);
      c.isend(peer, number_, from.data, from.bytes, *(sending = &sent));
    }
  }
  if (in != nullptr && (to = locate(in->target)).exists) {
    into = in->kind == step_kind::recv_reduce ? staging_ : to.data;
    peer = resolve(in->peer);
    c.irecv(peer, number_, into, to.bytes, *(receiving = &received));
  }
  if (peer < 0) return;
  c.wait_both(receiving, sending,
              site(receiving != nullptr ? "a message from" : "a message to be sent to", c.members().address(peer)));
  if (receiving != nullptr && in->kind == step_kind::recv_reduce) deliver(*in, to, into, to.bytes);
}

inline void schedule_run::deliver(const step& s, const range& to, const std::byte* data, std::size_t bytes) {
  if (s.kind == step_kind::recv) {
    compute::copy(to.data, data, bytes);
    return;
  }
  const range own = locate(s.source);
  const operation& op = call_->op;
  const std::size_t n = bytes == unit_ ? call_->count : bytes / call_->type.size;
  if (s.received_left) op.combine(data, own.data, to.data, n, op.state);
  else op.combine(own.data, data, to.data, n, op.state);
}

void schedule_run::local(const step& s) {
  const range from = locate(s.source), to = locate(s.target);
  if (!from.exists || !to.exists) return;
  if (s.kind == step_kind::copy) {
    if (from.data != to.data) compute::copy(to.data, from.data, from.bytes);
    return;
  }
  const range right = locate(s.other);
  call_->op.combine(from.data, right.data, to.data, from.bytes / call_->type.size, call_->op.state);
}

// --- rounds of many transfers, transfers through the engine, and rounds that are left and entered again ----------

void schedule_run::open_round(const item& r) {
  if (sendings_made_ < r.sends) {
    sendings_.reset(new sending[bound_->most_sends]);
    sendings_made_ = bound_->most_sends;
  }
  if (receivings_made_ < r.recvs) {
    receivings_.reset(new receiving[bound_->most_recvs]);
    receivings_made_ = bound_->most_recvs;
  }
  const step* steps = bound_->plan.steps.data() + r.first;
  left_ = static_cast<std::size_t>(r.sends) + r.recvs;
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
      --left_;
      continue;
    }
    const link& l = link_of(r, r.sends + i);
    if (l.in != nullptr) continue;
    one.into = to.data;
    if (s.kind == step_kind::recv_reduce) {
      one.into = staging;
      staging += (to.bytes + 63) / 64 * 64;
    }
    bound_->where.irecv(resolve(s.peer), number_, one.into, to.bytes, one.message);
  }
  for (std::size_t i = 0; i < r.sends; ++i) {
    sending& one = sendings_[i];
    const step& s = steps[i];
    one.stage = 0;
    one.complete = false;
    if (s.kind == step_kind::send && !locate(s.source).exists) {
      one.complete = true;
      --left_;
    }
  }
  opened_ = true;
}

// Stages of a send: 0 nothing yet, 1 header under way (put, signal), 2 ready for the data, 3 data under way.
bool schedule_run::try_send(sending& s, const step& what, const link& l) {
  fabric::channel* const c = l.out;
  const bool has_header = what.kind != step_kind::send;
  if (s.stage == 0) {
    if (has_header) {
      const range from = locate(what.source);
      s.header[0] = what.kind == step_kind::signal
                        ? ~std::uint64_t{0}
                        : static_cast<std::uint64_t>(locate(what.target).data - base_[static_cast<int>(buffer::output)]);
      s.header[1] = from.bytes;
      if (c != nullptr) {
        if (!c->has_room()) return false;
        c->post(tag_, s.header, sizeof s.header, nullptr);
      } else {
        bound_->where.isend(resolve(what.peer), number_, s.header, sizeof s.header, s.message);
        s.stage = 1;
      }
    }
    if (s.stage == 0) s.stage = 2;
  }
  if (s.stage == 1) {
    if (!bound_->where.done(s.message, site("a message to be sent to", bound_->where.members().address(resolve(what.peer))))) return false;
    s.stage = 2;
  }
  if (what.kind == step_kind::signal) return true;
  if (s.stage == 2) {
    const range from = locate(what.source);
    if (c != nullptr) {
      if (!c->has_room()) return false;
      const bool rendezvous = fabric::channel::is_rendezvous(from.bytes);
      s.done.store(rendezvous ? 0 : 1, std::memory_order_relaxed);
      c->post(tag_, from.data, from.bytes, &s.done);
      if (!rendezvous) return true;
    } else {
      bound_->where.isend(resolve(what.peer), number_, from.data, from.bytes, s.message);
    }
    s.stage = 3;
  }
  if (c != nullptr) return s.done.load(std::memory_order_acquire) != 0;
  return bound_->where.done(s.message, site("a message to be sent to", bound_->where.members().address(resolve(what.peer))));
}

bool schedule_run::try_receive(receiving& r, const step& what, const link& l) {
  if (what.kind == step_kind::await_signal) return try_await(r, what, l);
  const range to = locate(what.target);
  if (l.in != nullptr) {
    fabric::arrival a;
    if (!l.in->look(tag_, a)) return false;
    if (a.bytes != to.bytes) misfit(what, a.bytes, to.bytes);
    deliver(what, to, a.data, a.bytes);
    l.in->take(a);
    return true;
  }
  if (!bound_->where.done(r.message, site("a message from", bound_->where.members().address(resolve(what.peer))))) return false;
  if (what.kind == step_kind::recv_reduce) deliver(what, to, r.into, to.bytes);
  return true;
}

// Takes in the peer's puts until its signal. Stages: 0 a header is next, 1 header asked for, 2 data are next, 3 data asked
// for.
bool schedule_run::try_await(receiving& r, const step& what, const link& l) {
  std::byte* const target = base_[static_cast<int>(buffer::output)];
  const auto place = site("a signal from", bound_->where.members().address(resolve(what.peer)));
  for (;;) {
    fabric::arrival a;
    if (l.in != nullptr) {
      if (!l.in->look(tag_, a)) return false;
      if (r.stage == 0) {
        std::memcpy(r.header, a.data, sizeof r.header);
        l.in->take(a);
        if (r.header[0] == ~std::uint64_t{0}) return true;
        r.stage = 2;
      } else {
        compute::copy(target + r.header[0], a.data, a.bytes);
        l.in->take(a);
        r.stage = 0;
      }
      continue;
    }
    if (r.stage == 0) {
      bound_->where.irecv(resolve(what.peer), number_, r.header, sizeof r.header, r.message);
      r.stage = 1;
    } else if (r.stage == 2) {
      bound_->where.irecv(resolve(what.peer), number_, target + r.header[0], r.header[1], r.message);
      r.stage = 3;
    }
    if (!bound_->where.done(r.message, place)) return false;
    if (r.stage == 1 && r.header[0] == ~std::uint64_t{0}) return true;
    r.stage = r.stage == 1 ? 2 : 0;
  }
}

bool schedule_run::all_transfers(const item& r, bool blocking) {
  const step* steps = bound_->plan.steps.data() + r.first;
  if (!opened_) open_round(r);
  while (left_ != 0) {
    const std::size_t before = left_;
    // In order towards one peer: a put's data follow its header, a signal follows the puts.
    for (std::size_t i = 0; i < r.sends; ++i) {
      sending& s = sendings_[i];
      if (s.complete) continue;
      const link& l = link_of(r, i);
      bool held = false;
      for (std::size_t k = 0; k < i && !held; ++k)
        held = !sendings_[k].complete && sendings_[k].stage < 3 && resolve(steps[k].peer) == resolve(steps[i].peer);
      if (held || !try_send(s, steps[i], l)) continue;
      s.complete = true;
      --left_;
    }
    // Messages of one peer come in the order in which this round lists them.
    for (std::size_t i = 0; i < r.recvs; ++i) {
      receiving& one = receivings_[i];
      if (one.complete) continue;
      const link& l = link_of(r, r.sends + i);
      bool held = false;
      if (l.in != nullptr || steps[r.sends + i].kind == step_kind::await_signal)
        for (std::size_t k = 0; k < i && !held; ++k)
          held = !receivings_[k].complete && resolve(steps[r.sends + k].peer) == resolve(steps[r.sends + i].peer);
      if (held || !try_receive(one, steps[r.sends + i], l)) continue;
      one.complete = true;
      --left_;
    }
    moves_ += before - left_;
    if (left_ == 0) break;
    if (!blocking) return false;
    if (left_ == before) wait_for_one(r);
    else bound_->where.door().progressed();
  }
  opened_ = false;
  return true;
}

// Everything must complete, so it is enough to wait for the first that has not, as long as nothing is left to post.
void schedule_run::wait_for_one(const item& r) {
  const step* steps = bound_->plan.steps.data() + r.first;
  endpoint& door = bound_->where.door();
  const group& members = bound_->where.members();
  if (door.node() == nullptr) {
    door.pause(site("messages"));
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
    fabric::channel& c = *link_of(r, r.sends + i).in;
    if (unposted != nullptr) {
      door.pause(site("a message from", c.from()));
    } else {
      const char* what = steps[r.sends + i].kind == step_kind::await_signal ? "a signal from" : "a message from";
      door.wait(c.arrival_word(), c.arrival_value(), c.same_worker(), site(what, members.address(resolve(steps[r.sends + i].peer))));
    }
    return;
  }
  if (unposted != nullptr) {
    fabric::channel& c = *unposted_link->out;
    door.wait(c.room_word(), c.room_value(), c.same_worker(), site("room in the mailbox of", c.to()));
  } else if (unread != nullptr) {
    fabric::channel& c = *unread_link->out;
    door.wait(unread->done, 1, c.same_worker(), site("its data to be read by", c.to()));
  }
}

fabric::wait_site schedule_run::site(const char* what, int peer) const noexcept {
  return {name_of(call_->what).data(), bound_->name, what, peer, static_cast<int>(pc_), number_};
}

void schedule_run::misfit(const step& s, std::size_t came, std::size_t expected) const {
  const int peer = bound_->where.members().address(resolve(s.peer));
  const std::string text = "rank " + std::to_string(peer) + " sent " + std::to_string(came) + " bytes where this rank expects " +
                           std::to_string(expected);
  const char* remedy = "call it with the same count and element type on all ranks (TUTTI_CHECK=1 names who differs)";
  if (came > expected)
    throw truncation_error(std::string(name_of(call_->what)), bound_->where.door().rank(), "count", text, remedy);
  throw mismatch_error(std::string(name_of(call_->what)), bound_->where.door().rank(), "count", text, remedy);
}

}  // namespace tutti

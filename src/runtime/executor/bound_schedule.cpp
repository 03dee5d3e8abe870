// SPDX-License-Identifier: Apache-2.0
//
// Binds a schedule to a communicator: resolves once what all its runs share.
#include <algorithm>

#include "runtime/executor/executor.hpp"

namespace tutti::detail {

links::links(context& c)
    : context_(c), pages_(static_cast<std::size_t>(c.members().size() / page_size + 1)) {}

const link& links::to(int peer) {
  auto& page = pages_[static_cast<std::size_t>(peer / page_size)];
  if (!page) page.reset(new link[page_size]);
  link& l = page[static_cast<std::size_t>(peer % page_size)];
  if (l.out == nullptr) {
    if (shm::node* node = context_.ep().node()) {
      const int me = context_.ep().rank(), other = context_.members().address(peer);
      l.out = &node->between(me, other);
      l.in = &node->between(other, me);
    }
  }
  return l;
}

// Stores the block ranges of an exchange. Returns false if a place is not whole blocks of the
// caller's buffers.
bool bound_schedule::bind_simple(bound_exchange& e) {
  const auto bind_blocks = [&](const place& p, block_range& r) {
    r = {p.where, p.first.base, p.blocks};
    max_blocks = std::max(max_blocks, static_cast<std::size_t>(p.blocks));
    return p.plain && (p.where == buffer::input || p.where == buffer::output);
  };
  if (e.out != nullptr && !bind_blocks(e.out->source, e.sent)) return false;
  if (e.in == nullptr) return true;
  e.combines = e.in->kind == step_kind::recv_reduce;
  e.received_left = e.in->received_left;
  return bind_blocks(e.in->target, e.result) && (!e.combines || bind_blocks(e.in->source, e.operand));
}

bound_schedule::bound_schedule(const char* schedule_name, schedule s, context& c, links& p,
                               std::vector<std::int32_t> members)
    : name(schedule_name), plan(std::move(s)), ranks(std::move(members)), where(c), peers(p) {
  step_links.resize(plan.steps.size());
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const step& one = plan.steps[i];
    if (is_local(one.kind) || !one.peer.is_constant()) continue;
    const int size = ranks.empty() ? c.members().size() : static_cast<int>(ranks.size());
    const int peer = one.peer.modulus > 0
                         ? ((one.peer.base % one.peer.modulus) + one.peer.modulus) % one.peer.modulus
                         : one.peer.base;
    if (peer >= 0 && peer < size) step_links[i] = p.to(address(peer));
  }
  interleaves = c.ep().interleaves();
  exchanges.resize(plan.items.size());
  for (std::size_t i = 0; i < plan.items.size(); ++i) {
    const item& r = plan.items[i];
    if (r.kind != item_kind::round || r.sends > 1 || r.recvs > 1 || r.sends + r.recvs == 0 || r.locals != 0 ||
        interleaves || c.ep().node() == nullptr)
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
  simple = !exchanges.empty() &&
           std::all_of(exchanges.begin(), exchanges.end(), [](const bound_exchange& e) { return e.simple; });
  for (const scratch_size& one : plan.scratch) {
    needs_memory = needs_memory || one.blocks != 0 || one.bytes != 0;
    sized_by_counts =
        sized_by_counts ||
        (one.blocks != 0 && (one.how == partition::input_counts || one.how == partition::output_counts));
  }
  if (c.ep().node() == nullptr)
    for (const step& one : plan.steps) {
      if (one.kind != step_kind::recv_reduce) continue;
      needs_memory = true;
      sized_by_counts = sized_by_counts || one.target.how == partition::input_counts ||
                        one.target.how == partition::output_counts;
    }
  simple = simple && !needs_memory && plan.words == 0;
  for (bound_exchange& e : exchanges) simple = simple && bind_simple(e);
  tag_base = c.id() << 24;
  for (const item& i : plan.items) {
    max_sends = std::max<std::size_t>(max_sends, i.sends);
    max_recvs = std::max<std::size_t>(max_recvs, i.recvs);
  }
}

}  // namespace tutti::detail

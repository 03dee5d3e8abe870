// SPDX-License-Identifier: Apache-2.0
//
// Executes the schedules of all ranks and matches their transfers.
#include "proof/abstract_run.hpp"

#include <algorithm>

#include "proof/abstract_state.hpp"

namespace tutti::proof {

void abstract_machine::state::fail(int rank, const std::string& what) const {
  throw rule_violation{{rank, rank < 0 ? -1 : of(rank).round, what}};
}

void abstract_machine::state::set_up(const abstract_call& p, const std::vector<schedule>& schedules,
                                     const run_options& options) {
  call_ = &p;
  schedules_ = schedules;
  options_ = options;
  only_ = -1;
  visit_ = nullptr;
  end_ = outcome{};
  const auto ranks = static_cast<std::size_t>(p.ranks);
  end_.measured.sent.assign(ranks, 0);
  end_.measured.received.assign(ranks, 0);
  end_.measured.scratch.assign(ranks, 0);
  end_.measured.memory.assign(ranks, 0);
  if (options.record) end_.recorded.assign(ranks, {});
  puts_ = false;
  for (const schedule& s : schedules)
    for (const step& one : s.steps) puts_ = puts_ || one.kind == step_kind::put;
  clocks_ = puts_ || p.what == collective::barrier;
  symbols_.clear();
  oracle_.reset();
  ranks_.resize(ranks);
  queues_.assign(ranks * ranks, queue{});
  ready_.clear();
  if (options.symbols) oracle_ = std::make_unique<oracle>(p, symbols_);
  for (int r = 0; r < p.ranks; ++r) {
    set_up_rank(r);
    end_.measured.memory[static_cast<std::size_t>(r)] = schedule_of(r).memory();
  }
}

void abstract_machine::state::set_up_rank(int rank) {
  const abstract_call& p = *call_;
  rank_state& me = of(rank);
  me.pc = 0;
  me.depth = 0;
  me.round = -1;
  me.open = me.closing = me.finished = false;
  me.time = me.send_free = me.recv_free = 0;
  me.send_head = me.recv_head = 0;
  me.sends.clear();
  me.recvs.clear();
  me.accesses.clear();
  me.puts.clear();
  me.clock.assign(clocks_ ? static_cast<std::size_t>(p.ranks) : 0, 0);
  const schedule& s = schedule_of(rank);
  me.words.assign(static_cast<std::size_t>(std::max(0, s.words)), 0);
  me.known_words.assign(only_ < 0 ? 0 : me.words.size(), true);
  std::fill(std::begin(me.opaque), std::end(me.opaque), false);
  me.sizes[0] = p.input_size(rank);
  me.sizes[1] = p.output_size(rank);
  me.sizes[words_memory] = me.words.size();
  for (std::size_t i = 0; i < scratch_count; ++i) {
    const scratch_size& required = s.scratch[i];
    std::size_t size = (required.bytes + p.element_bytes - 1) / p.element_bytes;
    if (required.blocks > 0)
      size = std::max(size, static_cast<std::size_t>(required.blocks) * longest_block(rank, required.how));
    me.sizes[2 + i] = me.max_sizes[i] = size;
    if (options_.symbols) me.cells[2 + i].assign(size, uninitialized);
  }
  if (options_.symbols) oracle_->fill(rank, me.cells[0], me.cells[1]);
}

outcome abstract_machine::state::run(const abstract_call& p, const std::vector<schedule>& schedules,
                                     const run_options& options) {
  try {
    set_up(p, schedules, options);
    execute();
    if (p.what == collective::barrier) prove_barrier();
    if (puts_)
      for (int r = 0; r < p.ranks; ++r) prove_put_pairs(r);
    if (options.symbols) compare_results();
  } catch (const rule_violation& b) {
    end_.faults.push_back(b.what);
  }
  for (int r = 0; r < p.ranks; ++r) {
    const rank_state& me = of(r);
    end_.measured.rounds = std::max(end_.measured.rounds, me.time);
    for (const std::size_t size : me.max_sizes)
      end_.measured.scratch[static_cast<std::size_t>(r)] += size * p.element_bytes;
  }
  return std::move(end_);
}

void abstract_machine::state::execute() {
  for (int r = call_->ranks; r-- > 0;) ready_.push_back(r);
  for (;;) {
    while (!ready_.empty()) {
      const int rank = ready_.back();
      ready_.pop_back();
      advance(rank);
    }
    if (std::all_of(ranks_.begin(), ranks_.end(), [](const rank_state& r) { return r.finished; })) return;
    if (!overtake_one_message()) report_deadlock();
  }
}

// Executes a rank until a round must wait for another rank.
void abstract_machine::state::advance(int rank) {
  rank_state& me = of(rank);
  for (;;) {
    if (me.closing) close_round(rank);
    if (me.open || me.finished) return;
    const item* r = next_round(rank);
    if (r == nullptr) {
      me.finished = true;
      return;
    }
    open_round(rank, *r);
    if (!me.closing) return;
    if (!ready_.empty() && ready_.back() == rank) ready_.pop_back();
  }
}

const item* abstract_machine::state::next_round(int rank) {
  rank_state& me = of(rank);
  const auto& items = schedule_of(rank).items;
  while (me.pc < items.size()) {
    const item& i = items[me.pc];
    switch (i.kind) {
      case item_kind::round:
        ++me.pc;
        return &i;
      case item_kind::loop: {
        const std::int32_t n = trips(rank, i.trips);
        if (n <= 0) {
          me.pc = i.first + 1;
          break;
        }
        if (me.depth == 2) fail(rank, "loops are nested three deep");
        me.loops[me.depth++] = {me.pc, 0, n};
        ++me.pc;
        break;
      }
      case item_kind::end_loop: {
        loop_state& l = me.loops[me.depth - 1];
        if (++l.i < l.n) {
          me.pc = l.head + 1;
        } else {
          --me.depth;
          ++me.pc;
        }
        break;
      }
      case item_kind::native:
        fail(rank, "the schedule contains the engine's own collective");
    }
  }
  return nullptr;
}

void abstract_machine::state::open_round(int rank, const item& r) {
  list_transfers(rank, r);
  rank_state& me = of(rank);
  for (std::size_t i = 0; i < me.sends.size(); ++i) post_send(rank, static_cast<std::int32_t>(i));
  for (std::size_t j = 0; j < me.recvs.size(); ++j) post_recv(rank, static_cast<std::int32_t>(j));
  mark_if_complete(rank);
}

void abstract_machine::state::list_transfers(int rank, const item& r) {
  rank_state& me = of(rank);
  ++me.round;
  me.open = true;
  me.current = &r;
  me.sends.clear();
  me.recvs.clear();
  me.send_head = me.recv_head = 0;
  me.send_free = me.recv_free = me.time;
  if (clocks_) {
    me.clock[static_cast<std::size_t>(rank)] = static_cast<std::uint32_t>(me.round) + 1;
    me.next_clock = me.clock;
  }
  const step* steps = schedule_of(rank).steps.data() + r.first;
  for (std::uint32_t n = 0; n < r.sends + r.recvs; ++n) {
    const step& s = steps[n];
    transfer t{};
    t.what = &s;
    t.peer = resolve(rank, s.peer);
    if (t.peer < 0 || t.peer >= call_->ranks) fail(rank, "there is no rank " + std::to_string(t.peer));
    if (!can_reach(options_.permitted_reach, rank, t.peer, call_->ranks))
      fail(rank, "its peer is rank " + std::to_string(t.peer) + ", but \"Reach:\" permits " +
                     std::string(description_of(options_.permitted_reach)));
    const bool silent = s.kind == step_kind::signal || s.kind == step_kind::await_signal;
    if (s.kind == step_kind::send || s.kind == step_kind::put || s.kind == step_kind::recv_reduce)
      t.source = locate(rank, s.source);
    if (s.kind == step_kind::recv || s.kind == step_kind::recv_reduce) t.target = locate(rank, s.target);
    if (s.kind == step_kind::put && only_ >= 0)
      fail(rank, "it puts to rank " + std::to_string(t.peer) + ", which only a run of all ranks can prove");
    if (s.kind == step_kind::put) {
      if (s.target.where != buffer::output) fail(rank, "it puts to a place that is not in the output");
      t.target = locate(rank, s.target, t.peer);
      if (t.source.exists != t.target.exists || t.source.count != t.target.count)
        fail(rank, "it puts " + std::to_string(t.source.count) + " elements to a place of " +
                       std::to_string(t.target.count));
    }
    const bool sends = n < r.sends;
    if (!silent && !(sends ? t.source : t.target).exists) continue;
    if (s.kind == step_kind::recv_reduce && t.source.known && t.target.known &&
        (!t.source.exists || t.source.count != t.target.count || t.source.memory == words_memory))
      fail(rank,
           "own operand " + text(rank, t.source) + " and result " + text(rank, t.target) + " do not fit");
    (sends ? me.sends : me.recvs).push_back(t);
  }
  me.unmatched = me.sends.size() + me.recvs.size();
  prove_round(rank);
}

void abstract_machine::state::post_send(int rank, std::int32_t i) {
  transfer& t = of(rank).sends[static_cast<std::size_t>(i)];
  queue& q = between(rank, t.peer);
  if (q.head >= 0 && !q.of_sends) {
    const std::int32_t j = q.head;
    if (match(rank, i, t.peer, j)) {
      q.head = of(t.peer).recvs[static_cast<std::size_t>(j)].next;
      if (q.head < 0) q.tail = -1;
    }
    assign_times(rank);
    return;
  }
  q.of_sends = true;
  if (q.tail >= 0) of(rank).sends[static_cast<std::size_t>(q.tail)].next = i;
  if (q.head < 0) q.head = i;
  q.tail = i;
}

void abstract_machine::state::post_recv(int rank, std::int32_t j) {
  rank_state& me = of(rank);
  const int from = me.recvs[static_cast<std::size_t>(j)].peer;
  queue& q = between(from, rank);
  while (q.head >= 0 && q.of_sends) {
    const std::int32_t i = q.head;
    q.head = of(from).sends[static_cast<std::size_t>(i)].next;
    if (q.head < 0) q.tail = -1;
    const bool done = match(from, i, rank, j);
    assign_times(from);
    if (done) return;
  }
  q.of_sends = false;
  if (q.tail >= 0) me.recvs[static_cast<std::size_t>(q.tail)].next = j;
  if (q.head < 0) q.head = j;
  q.tail = j;
}

// Both sides have reached the transfer. Returns true if it completes the receive.
bool abstract_machine::state::match(int from, std::int32_t i, int to, std::int32_t j) {
  rank_state &sender = of(from), &receiver = of(to);
  transfer& out = sender.sends[static_cast<std::size_t>(i)];
  transfer& in = receiver.recvs[static_cast<std::size_t>(j)];
  const step_kind send_kind = out.what->kind, recv_kind = in.what->kind;
  if ((send_kind == step_kind::send) == (recv_kind == step_kind::await_signal))
    fail(to, send_kind == step_kind::send
                 ? "it waits for a signal from rank " + std::to_string(from) + ", which sends a message"
                 : "it receives from rank " + std::to_string(from) + ", which puts or signals");
  out.matched = true;
  out.peer_index = j;
  --sender.unmatched;
  ++end_.measured.messages;
  if (clocks_)
    for (std::size_t q = 0; q < receiver.next_clock.size(); ++q)
      receiver.next_clock[q] = std::max(receiver.next_clock[q], sender.clock[q]);
  if (send_kind != step_kind::signal) {
    const std::size_t unit = out.source.memory == words_memory ? sizeof(std::uint64_t) : call_->element_bytes;
    end_.measured.sent[static_cast<std::size_t>(from)] += out.source.count * unit;
    end_.measured.received[static_cast<std::size_t>(to)] += out.source.count * unit;
  }
  if (send_kind == step_kind::put) {
    move(from, out.source, to, out.target);
    receiver.puts.push_back({from, receiver.round, sender.clock[static_cast<std::size_t>(to)],
                             out.target.first, out.target.end()});
    return false;
  }
  in.matched = true;
  in.peer_index = i;
  --receiver.unmatched;
  if (send_kind == step_kind::signal) return true;
  if (out.source.count != in.target.count)
    fail(to, "rank " + std::to_string(from) + " sends " + std::to_string(out.source.count) + " elements, " +
                 text(from, out.source) + " in its round " + std::to_string(sender.round) +
                 ", but it expects " + std::to_string(in.target.count) + ", " + text(to, in.target));
  if (recv_kind == step_kind::recv) {
    move(from, out.source, to, in.target);
  } else if (in.what->received_left) {
    combine(from, out.source, to, in.source, to, in.target);
  } else {
    combine(to, in.source, from, out.source, to, in.target);
  }
  return true;
}

void abstract_machine::state::mark_if_complete(int rank) {
  rank_state& me = of(rank);
  if (!me.open || me.unmatched != 0 || me.send_head != me.sends.size() || me.recv_head != me.recvs.size())
    return;
  me.open = false;
  me.closing = true;
  ready_.push_back(rank);
}

void abstract_machine::state::close_round(int rank) {
  rank_state& me = of(rank);
  me.closing = false;
  const std::int64_t begin = me.time;
  me.time = std::max(me.send_free, me.recv_free);
  if (clocks_) me.clock.swap(me.next_clock);
  if (puts_) prove_puts(rank);
  if (options_.record) {
    me.traced = {begin, me.time, {}};
    const auto show = [](const area& a, const place& p) {
      return traced_place{p.where, a.first, a.count, a.known};
    };
    for (const auto* list : {&me.sends, &me.recvs})
      for (const transfer& t : *list) {
        const step& s = *t.what;
        const auto number = static_cast<std::uint32_t>(&s - schedule_of(rank).steps.data());
        me.traced.steps.push_back({s.kind,
                                   number,
                                   s.received_left,
                                   t.peer,
                                   show(t.source, s.source),
                                   {},
                                   show(t.target, s.target),
                                   t.time});
      }
  }
  const item& r = *me.current;
  const step* steps = schedule_of(rank).steps.data() + r.first + r.sends + r.recvs;
  for (std::uint32_t i = 0; i < r.locals; ++i) local_step(rank, steps[i]);
  if (!options_.record) return;
  if (visit_ != nullptr)
    (*visit_)(me.traced);
  else
    end_.recorded[static_cast<std::size_t>(rank)].push_back(std::move(me.traced));
}

abstract_machine::abstract_machine() : state_(std::make_unique<state>()) {}
abstract_machine::~abstract_machine() = default;
abstract_machine::abstract_machine(abstract_machine&&) noexcept = default;

outcome abstract_machine::run(const abstract_call& p, const std::vector<schedule>& schedules,
                              const run_options& options) {
  return state_->run(p, schedules, options);
}

outcome run_abstract(const abstract_call& p, const std::vector<schedule>& schedules,
                     const run_options& options) {
  return abstract_machine().run(p, schedules, options);
}

}  // namespace tutti::proof

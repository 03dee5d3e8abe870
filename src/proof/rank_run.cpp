// SPDX-License-Identifier: Apache-2.0
//
// Executes the schedule of one rank alone. Every message of another rank arrives with a value, so
// an element is uninitialized, a gap or initialized.
//
// Messages may carry lengths, which are words of the receiver. The rank does not know such words.
// A buffer is opaque after a write to an area whose length it does not know: its contents are not
// examined any more.
#include <algorithm>

#include "proof/abstract_state.hpp"

namespace tutti::proof {
namespace {

constexpr symbol initialized = gap + 1;
// The contents of buffers are tracked up to so many elements, and so many accesses to them.
constexpr std::size_t max_tracked = 8'000'000, max_accesses = 240'000'000;

}  // namespace

rank_outcome abstract_machine::state::run_rank(const abstract_call& p, const schedule& s, int rank,
                                               const rank_options& options, const round_visitor& visit) {
  call_ = &p;
  schedules_ = {&s, 1};
  options_ = {
      .symbols = options.contents, .record = options.record, .permitted_reach = options.permitted_reach};
  only_ = rank;
  visit_ = &visit;
  clocks_ = puts_ = false;
  end_ = outcome{};
  rank_costs_ = rank_costs{};
  symbols_.clear();
  oracle_.reset();
  ranks_.resize(1);
  ready_.clear();
  rank_outcome made;
  try {
    options_.symbols = options_.symbols && elements_of(rank) < max_tracked;
    rank_costs_.tracked = options_.symbols;
    if (options_.symbols) oracle_ = std::make_unique<oracle>(p, symbols_, rank);
    set_up_rank(rank);
    execute_rank(rank, options.max_work);
    if (options_.symbols) require_written(rank);
  } catch (rule_violation& b) {
    made.faults.push_back(std::move(b.what));
  }
  made.measured = rank_costs_;
  made.measured.rounds = of(rank).time;
  made.measured.combined = end_.measured.combined;
  made.measured.memory = s.memory();
  for (const std::size_t size : of(rank).max_sizes) made.measured.scratch += size * p.element_bytes;
  return made;
}

std::size_t abstract_machine::state::elements_of(int rank) const {
  std::size_t all = call_->input_size(rank) + call_->output_size(rank);
  for (const scratch_size& s : schedule_of(rank).scratch)
    if (s.blocks > 0) all += static_cast<std::size_t>(s.blocks) * longest_block(rank, s.how);
  return all;
}

void abstract_machine::state::execute_rank(int rank, std::uint64_t max_work) {
  rank_state& me = of(rank);
  while (const item* r = next_round(rank)) {
    rank_costs_.work += r->sends + r->recvs + r->locals;
    if (options_.symbols && rank_costs_.work > max_accesses / 8)
      options_.symbols = rank_costs_.tracked = false;
    if (rank_costs_.work > max_work)
      fail(rank, "it executes too many steps to be followed; use fewer ranks or a shorter vector");
    list_transfers(rank, *r);
    complete_transfers(rank);
    me.open = false;
    close_round(rank);
  }
}

void abstract_machine::state::complete_transfers(int rank) {
  rank_state& me = of(rank);
  const auto count = [&](const area& a, std::uint64_t& bytes) {
    ++rank_costs_.messages;
    if (!a.known) ++rank_costs_.unknown;
    if (options_.symbols) rank_costs_.work += a.count / 8;
    bytes += a.count * (a.memory == words_memory ? sizeof(std::uint64_t) : call_->element_bytes);
  };
  for (transfer& t : me.sends) {
    if (t.what->kind == step_kind::send) require_readable(rank, t.source, "it sends");
    t.time = me.send_free++;
    count(t.source, rank_costs_.sent);
  }
  for (transfer& t : me.recvs) {
    t.time = me.recv_free++;
    count(t.target, rank_costs_.received);
    if (t.what->kind == step_kind::await_signal) continue;
    if (t.what->kind == step_kind::recv_reduce) {
      if (!combines(call_->what)) fail(rank, "there is no operator in this collective");
      require_readable(rank, t.source, "it reduces");
      end_.measured.combined += t.target.count;
    }
    require_writable(rank, t.target);
    overwrite(rank, t.target);
    if (t.target.memory == words_memory && t.target.known)
      std::fill_n(me.known_words.begin() + static_cast<std::ptrdiff_t>(t.target.first), t.target.count,
                  false);
  }
}

void abstract_machine::state::overwrite(int rank, const area& target) {
  rank_state& me = of(rank);
  if (options_.symbols || target.memory == words_memory) rank_costs_.work += target.count / 8;
  if (target.memory == words_memory) words_changed(me);
  if (!target.known) {
    me.opaque[target.memory] = true;
    if (target.memory == words_memory) me.known_words.assign(me.known_words.size(), false);
  } else if (options_.symbols && target.memory != words_memory && !me.opaque[target.memory]) {
    std::fill_n(me.cells[target.memory].begin() + static_cast<std::ptrdiff_t>(target.first), target.count,
                initialized);
  }
}

bool abstract_machine::state::use_word_sums(rank_state& me) {
  constexpr int queries_that_pay = 4;
  word_sums& all = me.sums;
  if (all.made || ++all.queries < queries_that_pay) return all.made;
  const std::size_t n = me.words.size();
  all.words.assign(n + 1, 0);
  all.unknown.assign(n + 1, 0);
  for (std::size_t i = 0; i < n; ++i) {
    all.words[i + 1] = all.words[i] + me.words[i];
    all.unknown[i + 1] = all.unknown[i] + (me.known_words[i] ? 0 : 1);
  }
  rank_costs_.work += n / 8;
  return all.made = true;
}

bool abstract_machine::state::any_unknown_word(int rank, std::size_t first, std::size_t end) {
  rank_state& me = of(rank);
  end = std::min(end, me.words.size());
  if (first >= end) return false;
  if (use_word_sums(me)) return me.sums.unknown[end] != me.sums.unknown[first];
  rank_costs_.work += (end - first) / 8;
  const auto begin = me.known_words.begin();
  const auto last = begin + static_cast<std::ptrdiff_t>(end);
  return std::find(begin + static_cast<std::ptrdiff_t>(first), last, false) != last;
}

bool abstract_machine::state::depends_on_unknown_words(int rank, const place& p, std::size_t first,
                                                       std::size_t end) {
  const auto width = static_cast<std::size_t>(schedule_of(rank).width);
  switch (p.how) {
    case partition::dense:
      return any_unknown_word(rank, static_cast<std::size_t>(std::max(0, p.origin)), end);
    case partition::spaced:
      return any_unknown_word(rank, first, end) || any_unknown_word(rank, width, width + 1);
    case partition::padded:
      return any_unknown_word(rank, width, width + 1);
    default:
      return false;
  }
}

// Every element of the result must have been written, or contain the operand of a call in place.
void abstract_machine::state::require_written(int rank) const {
  const rank_state& me = of(rank);
  if (me.opaque[1]) return;
  const auto& cells = me.cells[1];
  const auto missing = std::find(cells.begin(), cells.end(), uninitialized);
  if (missing != cells.end())
    fail(rank, "element " + std::to_string(missing - cells.begin()) + " of the result is not written");
}

rank_outcome abstract_machine::run_rank(const abstract_call& p, const schedule& s, int rank,
                                        const rank_options& options, const round_visitor& visit) {
  return state_->run_rank(p, s, rank, options, visit);
}

}  // namespace tutti::proof

// SPDX-License-Identifier: Apache-2.0
#include "fabric/team.hpp"

#include <map>
#include <string>

#include "compute/kernels.hpp"
#include "fabric/slices.hpp"
#include "tutti/core/error.hpp"

namespace tutti::fabric {

team::team(const std::vector<member>& members, ringer& rings) : rings_(rings) {
  std::map<int, int> bench_of;  // worker -> bench, benches numbered by first appearance
  for (int r = 0; r < static_cast<int>(members.size()); ++r) {
    const member& m = members[static_cast<std::size_t>(r)];
    const auto [known, fresh] = bench_of.try_emplace(m.worker, static_cast<int>(benches_.size()));
    if (fresh) {
      benches_.push_back(std::make_unique<bench>());
      benches_.back()->worker_bell = m.worker_bell;
      benches_.back()->first = r;
    }
    bench& b = *benches_[static_cast<std::size_t>(known->second)];
    if (b.first + b.members != r) ordered_ = false;
    seats_.push_back({known->second, b.members++});
  }
  for (auto& b : benches_) {
    b->rows.reset(new std::byte[session_count * static_cast<std::size_t>(b->members) * operand_bytes]);
    b->notices.reset(new std::byte[session_count * notice_bytes]);
  }
  postings_.reset(new posting[session_count * members.size()]);
}

void team::visit::begin(team& t, int rank, std::uint32_t number, const call& c) noexcept {
  team_ = &t;
  call_ = &c;
  rank_ = rank;
  number_ = number;
  phase_ = phase::come;
  last_ = listed_ = false;
  next_bench_ = 0;
  const std::size_t bytes = c.count * c.type.size;
  // Bytes are agreed only where all have blocks of one length.
  call_is_ = static_cast<std::uint64_t>(c.what) | (is_vector_form(c.what) ? 0 : bytes << 8);
  style_ = style::slices;
  if (c.what == collective::barrier) {
    style_ = style::nothing;
  } else if (c.what == collective::allreduce || c.what == collective::reduce) {
    if (bytes <= operand_bytes && (t.ordered_ || c.op.commutative)) style_ = style::row;
  } else if (c.what == collective::bcast && bytes <= notice_bytes) {
    style_ = style::notice;
  }
}

bool team::visit::go_on(waiting& w, bool blocking, const wait_site& site) {
  switch (phase_) {
    case phase::come:
      arrive(0);
      phase_ = phase::meet;
      [[fallthrough]];
    case phase::meet:
      if (!meet(0, w, blocking, site)) return false;
      if (style_ != style::slices) {
        leave();
        phase_ = phase::over;
        return true;
      }
      phase_ = phase::work;
      [[fallthrough]];
    case phase::work: {
      const reading others(w, site);
      work_slice({&team_->postings_[(number_ % session_count) * static_cast<std::size_t>(team_->size())],
                  team_->size(), rank_});
    }
      phase_ = phase::part;
      [[fallthrough]];
    case phase::part:
      last_ = listed_ = false;
      next_bench_ = 0;
      arrive(1);
      phase_ = phase::meet_again;
      [[fallthrough]];
    case phase::meet_again:
      if (!meet(1, w, blocking, site)) return false;
      phase_ = phase::over;
      [[fallthrough]];
    case phase::over:
      break;
  }
  return true;
}

void team::visit::arrive(int which) {
  const std::uint32_t session = number_ % session_count;
  const seat me = team_->seats_[static_cast<std::size_t>(rank_)];
  bench& b = *team_->benches_[static_cast<std::size_t>(me.bench)];
  meeting& m = b.meetings[session][which];
  if (which == 0) {
    const std::size_t bytes = call_->count * call_->type.size;
    const void* operand = call_->in_place ? call_->output : call_->input;
    if (style_ == style::row) {
      std::byte* place = b.members == 1 ? m.complete.data
                                        : b.rows.get() + (session * static_cast<std::size_t>(b.members) +
                                                          static_cast<std::size_t>(me.place)) *
                                                             operand_bytes;
      compute::copy(place, operand, bytes);
    } else if (style_ == style::notice) {
      if (rank_ == call_->root) compute::copy(b.notices.get() + session * notice_bytes, call_->input, bytes);
    } else if (style_ == style::slices) {
      team_->postings_[session * static_cast<std::size_t>(team_->size()) + static_cast<std::size_t>(rank_)]
          .what = call_;
    }
  }
  // Whoever calls something else is not counted, so this meeting never comes about.
  if (m.come == 0)
    m.call_is = call_is_;
  else if (m.call_is != call_is_) [[unlikely]]
    differs(m.call_is);
  ++m.come;
  last_ = m.come == static_cast<std::uint32_t>(b.members);
  if (!last_) return;
  m.come = 0;
  m.complete.call_is = call_is_;
  if (which == 0 && style_ == style::row && b.members > 1) combine_row();
  m.complete.word.store(number_ + 1, std::memory_order_release);
  for (auto& other : team_->benches_)
    if (other->worker_bell->armed.load(std::memory_order_relaxed) != 0 && other.get() != &b)
      team_->rings_.ring(*other->worker_bell);
}

bool team::visit::meet(int which, waiting& w, bool blocking, const wait_site& site) {
  const std::uint32_t session = number_ % session_count, value = number_ + 1;
  const int mine = team_->seats_[static_cast<std::size_t>(rank_)].bench;
  bench& b = *team_->benches_[static_cast<std::size_t>(mine)];
  meeting& m = b.meetings[session][which];
  if (!last_) {
    while (!reached(m.go.word.load(std::memory_order_acquire), value)) {
      if (!blocking) return false;
      if (!listed_) m.asleep.push_back(&w.bell());
      listed_ = true;
      w.wait(m.go.word, value, true, site);
    }
    return true;
  }
  for (; next_bench_ < static_cast<int>(team_->benches_.size()); ++next_bench_) {
    if (next_bench_ == mine) continue;
    const notice_line& line =
        team_->benches_[static_cast<std::size_t>(next_bench_)]->meetings[session][which].complete;
    const auto& word = line.word;
    while (!reached(word.load(std::memory_order_acquire), value)) {
      if (!blocking) return false;
      w.wait(word, value, false, site);
    }
    if (line.call_is != call_is_) [[unlikely]]
      differs(line.call_is);
  }
  if (which == 0 && style_ == style::row) combine_benches();
  if (b.members > 1) {
    m.go.word.store(value, std::memory_order_release);
    for (doorbell* bell : m.asleep)
      if (bell->armed.load(std::memory_order_relaxed) != 0) team_->rings_.ring(*bell);
    m.asleep.clear();
  }
  return true;
}

void team::visit::differs(std::uint64_t other) const {
  const auto text = [](std::uint64_t is) {
    return std::string(name_of(static_cast<collective>(is & 0xff))) + " of " + std::to_string(is >> 8) +
           " bytes";
  };
  throw mismatch_error(
      std::string(name_of(call_->what)), rank_, "count",
      "this rank calls " + text(call_is_) + ", another " + text(other),
      "call the same with the same count and element type on all ranks (TUTTI_CHECK=1 names who differs)");
}

// The operands of this bench, in rank order, into the line that the other benches read.
void team::visit::combine_row() {
  const std::uint32_t session = number_ % session_count;
  bench& b = *team_->benches_[static_cast<std::size_t>(team_->seats_[static_cast<std::size_t>(rank_)].bench)];
  const std::byte* row = b.rows.get() + session * static_cast<std::size_t>(b.members) * operand_bytes;
  std::byte* partial = b.meetings[session][0].complete.data;
  const operation& op = call_->op;
  op.combine(row, row + operand_bytes, partial, call_->count, op.state);
  for (int i = 2; i < b.members; ++i)
    op.combine(partial, row + static_cast<std::size_t>(i) * operand_bytes, partial, call_->count, op.state);
}

// All benches' partials, in bench order. Every bench computes the same, in the same order, so all ranks get
// the same bits.
void team::visit::combine_benches() {
  const std::uint32_t session = number_ % session_count;
  bench& b = *team_->benches_[static_cast<std::size_t>(team_->seats_[static_cast<std::size_t>(rank_)].bench)];
  const operation& op = call_->op;
  const auto partial = [&](std::size_t i) { return team_->benches_[i]->meetings[session][0].complete.data; };
  std::byte* result = b.meetings[session][0].go.data;
  const std::size_t n = team_->benches_.size();
  if (n == 1) {
    compute::copy(result, partial(0), call_->count * call_->type.size);
    return;
  }
  op.combine(partial(0), partial(1), result, call_->count, op.state);
  for (std::size_t i = 2; i < n; ++i) op.combine(result, partial(i), result, call_->count, op.state);
}

void team::visit::leave() noexcept {
  const std::uint32_t session = number_ % session_count;
  const std::size_t bytes = call_->count * call_->type.size;
  if (style_ == style::row) {
    if (call_->what == collective::reduce && rank_ != call_->root) return;
    const bench& b =
        *team_->benches_[static_cast<std::size_t>(team_->seats_[static_cast<std::size_t>(rank_)].bench)];
    compute::copy(call_->output, b.meetings[session][0].go.data, bytes);
  } else if (style_ == style::notice && rank_ != call_->root) {
    const seat root = team_->seats_[static_cast<std::size_t>(call_->root)];
    compute::copy(
        call_->output,
        team_->benches_[static_cast<std::size_t>(root.bench)]->notices.get() + session * notice_bytes, bytes);
  }
}

}  // namespace tutti::fabric

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
    for (auto& session : b->meetings)
      for (meeting& m : session) m.asleep.reserve(static_cast<std::size_t>(b->members - 1));
  }
  postings_.reset(new posting[session_count * members.size()]);
}

[[gnu::always_inline]] inline void team::visit::sit_down(team& t, int rank, std::uint32_t number,
                                                         const call& c) noexcept {
  const seat me = t.seats_[static_cast<std::size_t>(rank)];
  team_ = &t;
  call_ = &c;
  bench_ = t.benches_[static_cast<std::size_t>(me.bench)].get();
  rank_ = rank;
  place_ = me.place;
  number_ = number;
  session_ = number % session_count;
  bytes_ = c.count * c.type.size;
  // Bytes are agreed only where all have blocks of one length.
  call_is_ = static_cast<std::uint64_t>(c.what) | (is_vector_form(c.what) ? 0 : bytes_ << 8);
  phase_ = phase::meet;
  last_ = false;
  style_ = style::slices;
  if (c.what == collective::allreduce || c.what == collective::reduce) {
    if (bytes_ <= operand_bytes && (t.ordered_ || c.op.commutative)) style_ = style::row;
  } else if (c.what == collective::barrier) {
    style_ = style::nothing;
  } else if (c.what == collective::bcast && bytes_ <= notice_bytes) {
    style_ = style::notice;
  }
}

// Lays down what the others need of this rank.
[[gnu::always_inline]] inline void team::visit::bring() {
  switch (style_) {
    case style::row: {
      // Who sits alone lays it where the combined operands of a bench are looked for.
      meeting& m = bench_->meetings[session_][0];
      std::byte* const place = bench_->members > 1           ? bench_->operand(session_, place_)
                               : team_->benches_.size() == 1 ? m.go.data
                                                             : m.complete.data;
      compute::copy(place, call_->in_place ? call_->output : call_->input, bytes_);
      break;
    }
    case style::notice:
      if (rank_ == call_->root)
        compute::copy(bench_->notices.get() + session_ * notice_bytes, call_->input, bytes_);
      break;
    case style::slices:
      team_->postings_[session_ * static_cast<std::size_t>(team_->size()) + static_cast<std::size_t>(rank_)]
          .what = call_;
      break;
    case style::nothing:
      break;
  }
}

[[gnu::always_inline]] inline void team::visit::arrive(int which) {
  listed_ = false;
  next_bench_ = 0;
  meeting& m = bench_->meetings[session_][which];
  // Whoever calls something else is not counted, so this meeting never comes about.
  if (m.come == 0)
    m.call_is = call_is_;
  else if (m.call_is != call_is_) [[unlikely]]
    differs(*call_, rank_, call_is_, m.call_is);
  last_ = ++m.come == static_cast<std::uint32_t>(bench_->members);
  if (!last_) return;
  m.come = 0;
  const bool alone = team_->benches_.size() == 1;
  if (which == 0 && style_ == style::row && bench_->members > 1)
    combine_row(alone ? m.go.data : m.complete.data);
  if (alone) return;
  m.complete.call_is = call_is_;
  m.complete.word.store(number_ + 1, std::memory_order_release);
  for (auto& other : team_->benches_)
    if (other->worker_bell->armed.load(std::memory_order_relaxed) != 0 && other.get() != bench_)
      team_->rings_.ring(*other->worker_bell);
}

[[gnu::always_inline]] inline bool team::visit::meet(int which, waiting& w, bool blocking,
                                                     const wait_site& site) {
  const std::uint32_t value = number_ + 1;
  meeting& m = bench_->meetings[session_][which];
  if (!last_) {
    while (!reached(m.go.word.load(std::memory_order_acquire), value)) {
      if (!blocking) return false;
      if (!listed_) m.asleep.push_back(&w.bell());
      listed_ = true;
      w.wait(m.go.word, value, true, site);
    }
    return true;
  }
  if (const int benches = static_cast<int>(team_->benches_.size()); benches > 1) {
    for (; next_bench_ < benches; ++next_bench_) {
      const bench& other = *team_->benches_[static_cast<std::size_t>(next_bench_)];
      if (&other == bench_) continue;
      const notice_line& line = other.meetings[session_][which].complete;
      while (!reached(line.word.load(std::memory_order_acquire), value)) {
        if (!blocking) return false;
        w.wait(line.word, value, false, site);
      }
      if (line.call_is != call_is_) [[unlikely]]
        differs(*call_, rank_, call_is_, line.call_is);
    }
    if (which == 0 && style_ == style::row) combine_benches();
  }
  if (bench_->members > 1) {
    m.go.word.store(value, std::memory_order_release);
    for (doorbell* bell : m.asleep)
      if (bell->armed.load(std::memory_order_relaxed) != 0) team_->rings_.ring(*bell);
    m.asleep.clear();
  }
  return true;
}

// The operands of this bench, in rank order.
[[gnu::always_inline]] inline void team::visit::combine_row(std::byte* result) const {
  const std::byte* row = bench_->operand(session_, 0);
  const operation& op = call_->op;
  op.combine(row, row + operand_bytes, result, call_->count, op.state);
  for (int i = 2; i < bench_->members; ++i)
    op.combine(result, row + static_cast<std::size_t>(i) * operand_bytes, result, call_->count, op.state);
}

// All benches' operands, in bench order. Every bench computes the same, in the same order, so all ranks get
// the same bits.
[[gnu::always_inline]] inline void team::visit::combine_benches() const {
  const operation& op = call_->op;
  const auto partial = [&](std::size_t i) { return team_->benches_[i]->meetings[session_][0].complete.data; };
  std::byte* result = bench_->meetings[session_][0].go.data;
  op.combine(partial(0), partial(1), result, call_->count, op.state);
  for (std::size_t i = 2; i < team_->benches_.size(); ++i)
    op.combine(result, partial(i), result, call_->count, op.state);
}

// Takes what the others brought.
[[gnu::always_inline]] inline void team::visit::leave() noexcept {
  if (style_ == style::row) {
    if (call_->what == collective::allreduce || rank_ == call_->root)
      compute::copy(call_->output, bench_->meetings[session_][0].go.data, bytes_);
  } else if (style_ == style::notice && rank_ != call_->root) {
    const seat root = team_->seats_[static_cast<std::size_t>(call_->root)];
    const bench& there = *team_->benches_[static_cast<std::size_t>(root.bench)];
    compute::copy(call_->output, there.notices.get() + session_ * notice_bytes, bytes_);
  }
}

void team::visit::begin(team& t, int rank, std::uint32_t number, const call& c) {
  sit_down(t, rank, number, c);
  bring();
  arrive(0);
}

bool team::visit::go_on(waiting& w, bool blocking, const wait_site& site) {
  if (phase_ == phase::meet) {
    if (!meet(0, w, blocking, site)) return false;
    if (style_ != style::slices) {
      leave();
      phase_ = phase::over;
      return true;
    }
    work(*team_, session_, rank_, w, site);
    arrive(1);
    phase_ = phase::meet_again;
  }
  if (phase_ == phase::meet_again) {
    if (!meet(1, w, blocking, site)) return false;
    phase_ = phase::over;
  }
  return true;
}

// Everything inline, so that the visit is a handful of registers.
void team::visit::make(team& t, int rank, std::uint32_t number, const call& c, waiting& w,
                       const wait_site& site) {
  visit v;
  v.sit_down(t, rank, number, c);
  v.bring();
  v.arrive(0);
  v.meet(0, w, true, site);
  if (v.style_ != style::slices) return v.leave();
  work(t, v.session_, rank, w, site);
  v.arrive(1);
  v.meet(1, w, true, site);
}

// This rank's slice of the result, directly in the others' memory.
[[gnu::noinline]] void team::visit::work(const team& t, std::uint32_t session, int rank, waiting& w,
                                         const wait_site& site) {
  const reading others(w, site);
  work_slice({&t.postings_[session * static_cast<std::size_t>(t.size())], t.size(), rank});
}

void team::visit::differs(const call& c, int rank, std::uint64_t mine, std::uint64_t other) {
  const auto text = [](std::uint64_t is) {
    const auto which = static_cast<collective>(is & 0xff);
    if (which == collective::barrier) return std::string(name_of(which));
    return std::string(name_of(which)) + " of " + std::to_string(is >> 8) + " bytes";
  };
  const std::string own = c.on_behalf != 0     ? called(c) + std::string(", which exchanges its counts first")
                          : c.label != nullptr ? std::string(c.label)
                                               : text(mine);
  throw mismatch_error(
      called(c), rank, "count", "this rank calls " + own + ", another " + text(other),
      "call the same with the same count and element type on all ranks (TUTTI_CHECK=1 names who differs)");
}

}  // namespace tutti::fabric

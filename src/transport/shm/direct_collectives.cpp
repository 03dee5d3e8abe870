// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/direct_collectives.hpp"

#include <map>
#include <string>

#include "base/compute/kernels.hpp"
#include "transport/shm/slices.hpp"
#include "tutti/error.hpp"

namespace tutti::shm {

direct_collectives::direct_collectives(const std::vector<member>& members, waker& w) : waker_(w) {
  // Worker -> worker group; groups are numbered by first appearance.
  std::map<int, int> worker_group_of;
  for (int r = 0; r < static_cast<int>(members.size()); ++r) {
    const member& m = members[static_cast<std::size_t>(r)];
    const auto [entry, added] =
        worker_group_of.try_emplace(m.worker, static_cast<int>(worker_groups_.size()));
    if (added) {
      worker_groups_.push_back(std::make_unique<worker_group>());
      worker_groups_.back()->worker_wakeup = m.worker_wakeup;
      worker_groups_.back()->first = r;
    }
    worker_group& b = *worker_groups_[static_cast<std::size_t>(entry->second)];
    if (b.first + b.members != r) ordered_ = false;
    slots_.push_back({entry->second, b.members++});
  }
  for (auto& b : worker_groups_) {
    b->rows.reset(new std::byte[epoch_count * static_cast<std::size_t>(b->members) * operand_bytes]);
    b->root_copies.reset(new std::byte[epoch_count * root_copy_bytes]);
    for (auto& epoch : b->barrier_phases)
      for (barrier_phase& m : epoch) m.asleep.reserve(static_cast<std::size_t>(b->members - 1));
  }
  published_calls_.reset(new published_call[epoch_count * members.size()]);
}

[[gnu::always_inline]] inline void direct_collectives::participation::take_slot(direct_collectives& t,
                                                                                int rank,
                                                                                std::uint32_t call_id,
                                                                                const call& c) noexcept {
  const slot me = t.slots_[static_cast<std::size_t>(rank)];
  direct_collectives_ = &t;
  call_ = &c;
  worker_group_ = t.worker_groups_[static_cast<std::size_t>(me.worker_group)].get();
  rank_ = rank;
  index_ = me.index;
  call_id_ = call_id;
  epoch_ = call_id % epoch_count;
  bytes_ = c.count * c.type.size;
  // The bytes agree only if all ranks have blocks of one length.
  call_digest_ = static_cast<std::uint64_t>(c.what) | (is_vector_form(c.what) ? 0 : bytes_ << 8);
  phase_ = phase::pass_barrier;
  last_ = false;
  style_ = style::slices;
  if (c.what == collective::allreduce || c.what == collective::reduce) {
    if (bytes_ <= operand_bytes && (t.ordered_ || c.op.commutative)) style_ = style::row;
  } else if (c.what == collective::barrier) {
    style_ = style::nothing;
  } else if (c.what == collective::bcast && bytes_ <= root_copy_bytes) {
    style_ = style::root_copy;
  }
}

// Publishes what the other ranks need from this rank.
[[gnu::always_inline]] inline void direct_collectives::participation::publish_operand() {
  switch (style_) {
    case style::row: {
      // A rank alone in its group writes its operand where the group's combined operand is
      // expected.
      barrier_phase& m = worker_group_->barrier_phases[epoch_][0];
      std::byte* const target = worker_group_->members > 1 ? worker_group_->operand(epoch_, index_)
                                : direct_collectives_->worker_groups_.size() == 1 ? m.release.data
                                                                                  : m.complete.data;
      compute::copy(target, call_->in_place ? call_->output : call_->input, bytes_);
      break;
    }
    case style::root_copy:
      if (rank_ == call_->root)
        compute::copy(worker_group_->root_copies.get() + epoch_ * root_copy_bytes, call_->input, bytes_);
      break;
    case style::slices:
      direct_collectives_
          ->published_calls_[epoch_ * static_cast<std::size_t>(direct_collectives_->size()) +
                             static_cast<std::size_t>(rank_)]
          .what = call_;
      break;
    case style::nothing:
      break;
  }
}

[[gnu::always_inline]] inline void direct_collectives::participation::arrive(int which) {
  listed_ = false;
  next_worker_group_ = 0;
  barrier_phase& m = worker_group_->barrier_phases[epoch_][which];
  // A rank that makes another call is not counted, so this barrier never completes.
  if (m.arrived == 0)
    m.call_digest = call_digest_;
  else if (m.call_digest != call_digest_) [[unlikely]]
    throw_call_mismatch(*call_, rank_, call_digest_, m.call_digest);
  last_ = ++m.arrived == static_cast<std::uint32_t>(worker_group_->members);
  if (!last_) return;
  m.arrived = 0;
  const bool alone = direct_collectives_->worker_groups_.size() == 1;
  if (which == 0 && style_ == style::row && worker_group_->members > 1)
    combine_row(alone ? m.release.data : m.complete.data);
  if (alone) return;
  m.complete.call_digest = call_digest_;
  m.complete.word.store(call_id_ + 1, std::memory_order_release);
  for (auto& other : direct_collectives_->worker_groups_)
    if (other->worker_wakeup->armed.load(std::memory_order_relaxed) != 0 && other.get() != worker_group_)
      direct_collectives_->waker_.ring(*other->worker_wakeup);
}

[[gnu::always_inline]] inline bool direct_collectives::participation::pass_barrier(int which,
                                                                                   wait_interface& w,
                                                                                   bool blocking,
                                                                                   const wait_site& site) {
  const std::uint32_t value = call_id_ + 1;
  barrier_phase& m = worker_group_->barrier_phases[epoch_][which];
  if (!last_) {
    while (!reached(m.release.word.load(std::memory_order_acquire), value)) {
      if (!blocking) return false;
      if (!listed_) m.asleep.push_back(&w.wakeup());
      listed_ = true;
      w.wait(m.release.word, value, true, site);
    }
    return true;
  }
  if (const int worker_groups = static_cast<int>(direct_collectives_->worker_groups_.size());
      worker_groups > 1) {
    for (; next_worker_group_ < worker_groups; ++next_worker_group_) {
      const worker_group& other =
          *direct_collectives_->worker_groups_[static_cast<std::size_t>(next_worker_group_)];
      if (&other == worker_group_) continue;
      const flag_line& line = other.barrier_phases[epoch_][which].complete;
      while (!reached(line.word.load(std::memory_order_acquire), value)) {
        if (!blocking) return false;
        w.wait(line.word, value, false, site);
      }
      if (line.call_digest != call_digest_) [[unlikely]]
        throw_call_mismatch(*call_, rank_, call_digest_, line.call_digest);
    }
    if (which == 0 && style_ == style::row) combine_worker_groups();
  }
  if (worker_group_->members > 1) {
    m.release.word.store(value, std::memory_order_release);
    for (wakeup_flag* wakeup : m.asleep)
      if (wakeup->armed.load(std::memory_order_relaxed) != 0) direct_collectives_->waker_.ring(*wakeup);
    m.asleep.clear();
  }
  return true;
}

// Combines the operands of this worker group, in rank order.
[[gnu::always_inline]] inline void direct_collectives::participation::combine_row(std::byte* result) const {
  const std::byte* row = worker_group_->operand(epoch_, 0);
  const operation& op = call_->op;
  op.combine(row, row + operand_bytes, result, call_->count, op.state);
  for (int i = 2; i < worker_group_->members; ++i)
    op.combine(result, row + static_cast<std::size_t>(i) * operand_bytes, result, call_->count, op.state);
}

// Combines the results of all worker groups, in group order. Every group computes the same in the
// same order, so all ranks get the same bits.
[[gnu::always_inline]] inline void direct_collectives::participation::combine_worker_groups() const {
  const operation& op = call_->op;
  const auto partial = [&](std::size_t i) {
    return direct_collectives_->worker_groups_[i]->barrier_phases[epoch_][0].complete.data;
  };
  std::byte* result = worker_group_->barrier_phases[epoch_][0].release.data;
  op.combine(partial(0), partial(1), result, call_->count, op.state);
  for (std::size_t i = 2; i < direct_collectives_->worker_groups_.size(); ++i)
    op.combine(result, partial(i), result, call_->count, op.state);
}

// Copies the result to this rank's output.
[[gnu::always_inline]] inline void direct_collectives::participation::copy_result() noexcept {
  if (style_ == style::row) {
    if (call_->what == collective::allreduce || rank_ == call_->root)
      compute::copy(call_->output, worker_group_->barrier_phases[epoch_][0].release.data, bytes_);
  } else if (style_ == style::root_copy && rank_ != call_->root) {
    const slot root = direct_collectives_->slots_[static_cast<std::size_t>(call_->root)];
    const worker_group& root_group =
        *direct_collectives_->worker_groups_[static_cast<std::size_t>(root.worker_group)];
    compute::copy(call_->output, root_group.root_copies.get() + epoch_ * root_copy_bytes, bytes_);
  }
}

void direct_collectives::participation::begin(direct_collectives& t, int rank, std::uint32_t call_id,
                                              const call& c) {
  take_slot(t, rank, call_id, c);
  publish_operand();
  arrive(0);
}

bool direct_collectives::participation::advance(wait_interface& w, bool blocking, const wait_site& site) {
  if (phase_ == phase::pass_barrier) {
    if (!pass_barrier(0, w, blocking, site)) return false;
    if (style_ != style::slices) {
      copy_result();
      phase_ = phase::complete;
      return true;
    }
    work(*direct_collectives_, epoch_, rank_, w, site);
    arrive(1);
    phase_ = phase::second_barrier;
  }
  if (phase_ == phase::second_barrier) {
    if (!pass_barrier(1, w, blocking, site)) return false;
    phase_ = phase::complete;
  }
  return true;
}

// All parts are inlined, so the participation stays in a few registers.
void direct_collectives::participation::run(direct_collectives& t, int rank, std::uint32_t call_id,
                                            const call& c, wait_interface& w, const wait_site& site) {
  participation v;
  v.take_slot(t, rank, call_id, c);
  v.publish_operand();
  v.arrive(0);
  v.pass_barrier(0, w, true, site);
  if (v.style_ != style::slices) return v.copy_result();
  work(t, v.epoch_, rank, w, site);
  v.arrive(1);
  v.pass_barrier(1, w, true, site);
}

// Makes this rank's slice of the result, directly in the memory of the others.
[[gnu::noinline]] void direct_collectives::participation::work(const direct_collectives& t,
                                                               std::uint32_t epoch, int rank,
                                                               wait_interface& w, const wait_site& site) {
  const reading guard(w, site);
  work_slice({&t.published_calls_[epoch * static_cast<std::size_t>(t.size())], t.size(), rank});
}

void direct_collectives::participation::throw_call_mismatch(const call& c, int rank, std::uint64_t mine,
                                                            std::uint64_t other) {
  const auto text = [](std::uint64_t is) {
    const auto which = static_cast<collective>(is & 0xff);
    if (which == collective::barrier) return std::string(name_of(which));
    return std::string(name_of(which)) + " of " + std::to_string(is >> 8) + " bytes";
  };
  const std::string this_call = c.on_behalf != 0 && c.on_behalf != call::before_call
                                    ? detail::called(c) + std::string(", which exchanges its counts first")
                                : c.label != nullptr ? std::string(c.label)
                                                     : text(mine);
  throw mismatch_error(detail::called(c), rank, "count",
                       "this rank calls " + this_call + ", but another rank calls " + text(other),
                       "make the same call with the same count and element type on all ranks (TUTTI_CHECK=1 "
                       "names who differs)");
}

}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
#include "runtime/executor/composite_run.hpp"

#include <algorithm>

#include "base/compute/kernels.hpp"

namespace tutti::detail {

bound_composite_plan::bound_composite_plan(const char* plan_name, composite_plan p,
                                           std::vector<bound_schedule*> all, context& c)
    : name(plan_name), plan(std::move(p)), schedules(std::move(all)), run_slots(plan.calls.size()), where(c) {
  std::vector<std::uint32_t> free;
  for (const composite_step& s : plan.steps) {
    if (s.what == composite_step::kind::start) {
      if (free.empty()) free.push_back(runs++);
      run_slots[s.which] = free.back();
      free.pop_back();
    } else if (s.what == composite_step::kind::wait) {
      free.push_back(run_slots[s.which]);
    }
  }
}

void composite_run::begin(bound_composite_plan& b, const call& c, std::uint32_t call_id) {
  bound_ = &b;
  call_ = &c;
  call_id_ = call_id;
  pc_ = 0;
  complete_ = false;
  active_.clear();
  if (b.runs > run_slot_count_) {
    run_slots_.reset(new run_slot[b.runs]);
    run_slot_count_ = b.runs;
    active_.reserve(b.runs);
  }
  const std::size_t bytes = b.plan.scratch * c.type.size;
  if (bytes > memory_bytes_) {
    memory_.reset(new std::byte[bytes + 64]);
    memory_bytes_ = bytes;
  }
  scratch_ = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory_.get()) + 63) / 64 * 64);
}

std::byte* composite_run::address(const area& a) const noexcept {
  // A barrier, or a call without elements, may have null buffers. Null must stay null.
  std::byte* const base = a.where == buffer::input ? static_cast<std::byte*>(const_cast<void*>(call_->input))
                          : a.where == buffer::output ? static_cast<std::byte*>(call_->output)
                                                      : scratch_;
  return base == nullptr ? nullptr : base + a.offset * call_->type.size;
}

void composite_run::start(std::uint32_t which, bool alone) {
  const subcall& sub = bound_->plan.calls[which];
  run_slot& s = run_slots_[bound_->run_slots[which]];
  call& c = s.made;
  c = call{};
  c.what = sub.what;
  c.in_place = sub.in_place;
  c.root = sub.root;
  c.type = call_->type;
  c.count = sub.count;
  c.input = address(sub.input);
  c.output = address(sub.output);
  c.op = call_->op;
  c.label = call_->label != nullptr ? call_->label : name_of(call_->what).data();
  const auto view = [](const std::vector<std::size_t>& v) {
    return v.empty() ? counts_view() : counts_view(v.data(), v.size());
  };
  c.in_counts = view(sub.in_counts);
  c.in_displs = view(sub.in_displs);
  c.out_counts = view(sub.out_counts);
  c.out_displs = view(sub.out_displs);
  s.run.begin(*bound_->schedules[which], c,
              inner_run | (call_id_ & 0xfffu) << 12 | (sub.sequence_number & 0xfffu));
  active_.push_back(&s);
  if (!alone) s.run.advance(false);
}

void composite_run::progress_inner_calls() {
  for (run_slot* s : active_)
    if (!s->run.is_complete()) s->run.advance(false);
}

bool composite_run::wait(std::uint32_t which, bool blocking) {
  run_slot* const s = &run_slots_[bound_->run_slots[which]];
  schedule_run& run = s->run;
  if (!run.is_complete()) {
    if (blocking && active_.size() == 1 && !bound_->plan.calls[which].nonblocking) {
      run.advance(true);
    } else {
      progress_inner_calls();
      std::uint64_t seen = progress_count();
      while (!run.is_complete()) {
        if (!blocking) return false;
        bound_->where.ep().pause(site("messages"));
        progress_inner_calls();
        if (progress_count() != seen) {
          seen = progress_count();
          bound_->where.ep().progressed();
        }
      }
      if (blocking) bound_->where.ep().progressed();
    }
  }
  active_.erase(std::find(active_.begin(), active_.end(), s));
  return true;
}

bool composite_run::advance(bool blocking) {
  const auto& steps = bound_->plan.steps;
  for (; pc_ < steps.size(); ++pc_, ++progress_count_) {
    const composite_step& s = steps[pc_];
    switch (s.what) {
      case composite_step::kind::start: {
        const bool waits_next = pc_ + 1 < steps.size() && steps[pc_ + 1].which == s.which &&
                                steps[pc_ + 1].what == composite_step::kind::wait;
        start(s.which, blocking && waits_next);
        break;
      }
      case composite_step::kind::wait:
        if (!wait(s.which, blocking)) return false;
        break;
      case composite_step::kind::copy: {
        const copy_step& c = bound_->plan.copies[s.which];
        const std::size_t element = call_->type.size;
        for (std::size_t i = 0; i < c.blocks; ++i)
          compute::copy(address(c.to + i * c.to_distance), address(c.from + i * c.from_distance),
                        c.n * element);
        break;
      }
      case composite_step::kind::combine: {
        const combine_step& c = bound_->plan.combinations[s.which];
        call_->op.combine(address(c.left), address(c.right), address(c.to), c.n, call_->op.state);
        break;
      }
    }
  }
  complete_ = true;
  return true;
}

std::uint64_t composite_run::progress_count() const noexcept {
  std::uint64_t all = progress_count_;
  for (std::size_t i = 0; i < run_slot_count_; ++i) all += run_slots_[i].run.progress_count();
  return all;
}

shm::wait_site composite_run::site(const char* what, int peer) const noexcept {
  for (const run_slot* s : active_)
    if (!s->run.is_complete()) return s->run.site(what, peer);
  return {call_->label != nullptr ? call_->label : name_of(call_->what).data(),
          bound_->name,
          what,
          peer,
          static_cast<int>(pc_),
          call_id_};
}

}  // namespace tutti::detail

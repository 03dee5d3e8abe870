// SPDX-License-Identifier: Apache-2.0
#include "execute/program_run.hpp"

#include <algorithm>

#include "compute/kernels.hpp"

namespace tutti {

bound_program::bound_program(const char* its_name, program p, std::vector<bound_schedule*> all, context& c)
    : name(its_name), plan(std::move(p)), schedules(std::move(all)), seats(plan.calls.size()), where(c) {
  std::vector<std::uint32_t> free;
  for (const program_step& s : plan.steps) {
    if (s.what == program_step::kind::start) {
      if (free.empty()) free.push_back(runs++);
      seats[s.which] = free.back();
      free.pop_back();
    } else if (s.what == program_step::kind::wait) {
      free.push_back(seats[s.which]);
    }
  }
}

void program_run::begin(bound_program& b, const call& c, std::uint32_t number) {
  bound_ = &b;
  call_ = &c;
  number_ = number;
  pc_ = 0;
  over_ = false;
  under_way_.clear();
  if (b.runs > seats_made_) {
    seats_.reset(new seat[b.runs]);
    seats_made_ = b.runs;
    under_way_.reserve(b.runs);
  }
  const std::size_t bytes = b.plan.scratch * c.type.size;
  if (bytes > memory_bytes_) {
    memory_.reset(new std::byte[bytes + 64]);
    memory_bytes_ = bytes;
  }
  scratch_ = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(memory_.get()) + 63) / 64 * 64);
}

std::byte* program_run::address(const area& a) const noexcept {
  // Where there is no buffer, as for a barrier or no elements, there is none to be moved in.
  std::byte* const base = a.where == buffer::input ? static_cast<std::byte*>(const_cast<void*>(call_->input))
                          : a.where == buffer::output ? static_cast<std::byte*>(call_->output)
                                                      : scratch_;
  return base == nullptr ? nullptr : base + a.at * call_->type.size;
}

void program_run::start(std::uint32_t which, bool alone) {
  const subcall& sub = bound_->plan.calls[which];
  seat& s = seats_[bound_->seats[which]];
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
  s.run.begin(*bound_->schedules[which], c, inner_run | (number_ & 0xfffu) << 12 | (sub.number & 0xfffu));
  under_way_.push_back(&s);
  if (!alone) s.run.go_on(false);
}

void program_run::progress() {
  for (seat* s : under_way_)
    if (!s->run.over()) s->run.go_on(false);
}

bool program_run::wait(std::uint32_t which, bool blocking) {
  seat* const s = &seats_[bound_->seats[which]];
  schedule_run& run = s->run;
  if (!run.over()) {
    if (blocking && under_way_.size() == 1 && !bound_->plan.calls[which].nonblocking) {
      run.go_on(true);
    } else {
      progress();
      std::uint64_t seen = moves();
      while (!run.over()) {
        if (!blocking) return false;
        bound_->where.door().pause(site("messages"));
        progress();
        if (moves() != seen) {
          seen = moves();
          bound_->where.door().progressed();
        }
      }
      if (blocking) bound_->where.door().progressed();
    }
  }
  under_way_.erase(std::find(under_way_.begin(), under_way_.end(), s));
  return true;
}

bool program_run::go_on(bool blocking) {
  const auto& steps = bound_->plan.steps;
  for (; pc_ < steps.size(); ++pc_, ++moves_) {
    const program_step& s = steps[pc_];
    switch (s.what) {
      case program_step::kind::start: {
        const bool waits_next = pc_ + 1 < steps.size() && steps[pc_ + 1].which == s.which &&
                                steps[pc_ + 1].what == program_step::kind::wait;
        start(s.which, blocking && waits_next);
        break;
      }
      case program_step::kind::wait:
        if (!wait(s.which, blocking)) return false;
        break;
      case program_step::kind::copy: {
        const copying& c = bound_->plan.copies[s.which];
        const std::size_t element = call_->type.size;
        for (std::size_t i = 0; i < c.blocks; ++i)
          compute::copy(address(c.to + i * c.to_distance), address(c.from + i * c.from_distance),
                        c.n * element);
        break;
      }
      case program_step::kind::combine: {
        const combining& c = bound_->plan.combinations[s.which];
        call_->op.combine(address(c.left), address(c.right), address(c.to), c.n, call_->op.state);
        break;
      }
    }
  }
  over_ = true;
  return true;
}

std::uint64_t program_run::moves() const noexcept {
  std::uint64_t all = moves_;
  for (std::size_t i = 0; i < seats_made_; ++i) all += seats_[i].run.moves();
  return all;
}

fabric::wait_site program_run::site(const char* what, int peer) const noexcept {
  for (const seat* s : under_way_)
    if (!s->run.over()) return s->run.site(what, peer);
  return {call_->label != nullptr ? call_->label : name_of(call_->what).data(),
          bound_->name,
          what,
          peer,
          static_cast<int>(pc_),
          number_};
}

}  // namespace tutti

// SPDX-License-Identifier: Apache-2.0
#include "simulation/composite_simulation.hpp"

#include <algorithm>

#include "selection/inner_calls.hpp"
#include "simulation/call_shape.hpp"
#include "tutti/error.hpp"

namespace tutti::simulation {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

call_lengths lengths_of(const subcall& sub, std::size_t element_bytes, int position) {
  call_lengths l;
  l.element_bytes = element_bytes;
  l.count = sub.count;
  l.input = {sub.count, sub.in_counts};
  l.output = {sub.count, sub.out_counts};
  const bool scatters = sub.what == collective::scatter || sub.what == collective::scatterv;
  l.aliased = (sub.in_place && !scatters) || (sub.what == collective::bcast && position == sub.root);
  return l;
}

}  // namespace

composite_plan composite_simulation::plan_of(int rank) const {
  std::vector<std::size_t> counts, displs;
  const call c = call_of(call_, topology_.ranks(), rank, counts, displs);
  planner p(c, rank, topology_, composition_.parameter_values);
  composition_.which->plan(p);
  return p.finish();
}

call_cost composite_simulation::cost_of(int rank) {
  const composite_plan p = plan_of(rank);
  std::size_t bytes = p.steps.size() * sizeof(composite_step) + p.calls.size() * sizeof(subcall) +
                      p.copies.size() * sizeof(copy_step) + p.combinations.size() * sizeof(combine_step);
  for (const auto& g : p.groups) bytes += sizeof g + g.size() * sizeof(int);
  for (const subcall& c : p.calls)
    bytes += (c.in_counts.size() + c.in_displs.size() + c.out_counts.size() + c.out_displs.size()) *
             sizeof(std::size_t);
  call_cost all{static_cast<double>(bytes), 0};
  std::map<std::uint32_t, double> in_progress;  // memory, by call
  double now = 0, most = 0;
  for (const composite_step& s : p.steps) {
    if (s.what == composite_step::kind::start) {
      const subcall& sub = p.calls[s.which];
      rank_schedule written = schedule_of(rank, sub, p.groups[at(sub.group)]);
      const call_cost one = event_run::cost_of(written);
      all.messages += one.messages;
      in_progress[s.which] = one.memory;
      most = std::max(most, now += one.memory);
    } else if (s.what == composite_step::kind::wait) {
      now -= in_progress[s.which];
      in_progress.erase(s.which);
    }
  }
  all.memory += most;
  return all;
}

void composite_simulation::run() {
  ranks_.resize(at(topology_.ranks()));
  for (int r = 0; r < topology_.ranks(); ++r) ranks_[at(r)].plan = plan_of(r);
  for (int r = 0; r < topology_.ranks(); ++r) events_.resume_at(r, 0);
  events_.execute();
}

const selection_context& composite_simulation::context_of_group(const std::vector<int>& ranks) {
  const auto found = groups_.find(ranks);
  if (found != groups_.end()) return found->second;
  selection_context s = simulation::context_of(call_, topology_);
  if (!ranks.empty()) s.set_topology(topology_.restricted_to(ranks));
  s.whole_job = ranks.empty();
  return groups_.emplace(ranks, s).first->second;
}

choice composite_simulation::choose(const subcall& sub, const std::vector<int>& ranks) {
  call sample;
  sample.what = sub.what;
  sample.in_place = sub.in_place;
  sample.root = sub.root;
  sample.type.size = call_.element_bytes;
  sample.count = sub.count;
  sample.op.which = call_.ordered ? builtin_op::user : builtin_op::sum;
  sample.op.commutative = !call_.ordered;
  if (!sub.out_counts.empty()) sample.out_counts = {sub.out_counts.data(), sub.out_counts.size()};
  selection_context s = context_of_group(ranks);
  s.call = agreed_part(sample, ranks.empty() ? topology_.ranks() : static_cast<int>(ranks.size()));
  const resolution found = resolve_inside(inner_, s, {}, true);
  if (!found.served || found.pure.pure == nullptr)
    throw not_simulated("no algorithm serves its inner call " + std::string(name_of(sub.what)));
  return found.pure;
}

rank_schedule composite_simulation::schedule_of(int rank, const subcall& sub,
                                                const std::vector<int>& members) {
  const choice chosen = choose(sub, members);
  shape s;
  s.what = sub.what;
  s.size = members.empty() ? topology_.ranks() : static_cast<int>(members.size());
  s.rank = members.empty()
               ? rank
               : static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
  s.root = sub.root;
  s.in_place = sub.in_place;
  s.commutative = !call_.ordered || !combines(sub.what);
  s.parameter_values = chosen.parameter_values;
  builder b;
  chosen.pure->write(s, b);
  return rank_schedule(b.finish(), lengths_of(sub, call_.element_bytes, s.rank));
}

void composite_simulation::start(int rank, std::uint32_t which, double now) {
  rank_state& me = ranks_[at(rank)];
  const subcall& sub = me.plan.calls[which];
  const std::vector<int>& members = me.plan.groups[at(sub.group)];
  const std::uint32_t run = events_.add(rank, sub.sequence_number, schedule_of(rank, sub, members), members);
  me.calls.push_back({which, run});
  events_.begin(run, now, me.previous);
}

void composite_simulation::complete(std::uint32_t run, double now) {
  const int rank = events_.rank_of(run);
  rank_state& me = ranks_[at(rank)];
  for (active& a : me.calls)
    if (a.run == run) {
      a.complete = true;
      a.end = now;
    }
  if (me.waits_for != run) return;
  me.waits_for = none;
  resume(rank, now);
}

bool composite_simulation::wait(int rank, std::uint32_t which, double& now) {
  rank_state& me = ranks_[at(rank)];
  const auto a =
      std::find_if(me.calls.begin(), me.calls.end(), [&](const active& x) { return x.call == which; });
  if (a == me.calls.end()) return true;
  if (!a->complete) {
    me.waits_for = a->run;
    return false;
  }
  now = std::max(now, a->end);
  me.previous = events_.later_round(me.previous, events_.last_round(a->run));
  events_.release(a->run);
  me.calls.erase(a);
  return true;
}

double composite_simulation::work(int rank, const local_work& w, double now) {
  const double begin = std::max(now, events_.free_at(rank)),
               end = events_.occupy(rank, begin, events_.work_time(w));
  rank_state& me = ranks_[at(rank)];
  me.previous = events_.record_work(rank, begin, end, me.previous);
  return end;
}

void composite_simulation::resume(int rank, double now) {
  rank_state& me = ranks_[at(rank)];
  for (; me.pc < me.plan.steps.size(); ++me.pc) {
    const composite_step& s = me.plan.steps[me.pc];
    const std::uint64_t element = call_.element_bytes;
    switch (s.what) {
      case composite_step::kind::start:
        start(rank, s.which, now);
        now = std::max(now, events_.free_at(rank));
        break;
      case composite_step::kind::wait:
        if (!wait(rank, s.which, now)) return;
        break;
      case composite_step::kind::copy: {
        const copy_step& c = me.plan.copies[s.which];
        now = work(rank, {c.n * c.blocks * element, 0}, now);
        break;
      }
      case composite_step::kind::combine:
        now = work(rank, {0, me.plan.combinations[s.which].n * element}, now);
        break;
    }
  }
  me.end = now;
}

}  // namespace tutti::simulation

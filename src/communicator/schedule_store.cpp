// SPDX-License-Identifier: Apache-2.0
#include "communicator/schedule_store.hpp"

#include <array>
#include <string>
#include <utility>

#include "communicator/call_selection.hpp"
#include "schedule/builder.hpp"
#include "schedule/composite/planner.hpp"
#include "selection/inner_calls.hpp"

namespace tutti::detail {
namespace {

constexpr std::array<const char*, collective_names.size()> native_names = {"barrier/native",
                                                                           "bcast/native",
                                                                           "reduce/native",
                                                                           "allreduce/native",
                                                                           "gather/native",
                                                                           "gatherv/native",
                                                                           "scatter/native",
                                                                           "scatterv/native",
                                                                           "allgather/native",
                                                                           "allgatherv/native",
                                                                           "alltoall/native",
                                                                           "alltoallv/native",
                                                                           "alltoallw/native",
                                                                           "reduce_scatter/native",
                                                                           "reduce_scatter_block/native",
                                                                           "scan/native",
                                                                           "exscan/native",
                                                                           "neighbor_allgatherv/native",
                                                                           "neighbor_alltoallv/native"};

const char* name_of_choice(collective what, const choice& c) noexcept {
  return c.pure != nullptr ? c.pure->name.data() : native_names[static_cast<std::size_t>(what)];
}

schedule write(const choice& chosen, shape s) {
  builder b;
  if (chosen.pure == nullptr) {
    b.native();
  } else {
    s.parameter_values = chosen.parameter_values;
    chosen.pure->write(s, b);
  }
  return b.finish();
}

}  // namespace

prepared_call& schedule_store::find(const call& c) {
  where_.open();
  const agreed_signature s = agreed_part(c, where_.size(), where_.inter());
  const last_call& last = last_calls_[static_cast<std::size_t>(c.what)];
  // The signature omits whether the root of a rooted call is in place. The schedule depends on it.
  if (last.found != nullptr && last.root == c.root && last.found->in_place == c.in_place &&
      c.algorithm == nullptr && c.composition == nullptr && last.of == s)
    return *last.found;
  return select_and_find(c, s);
}

prepared_call& schedule_store::select_and_find(const call& c, const agreed_signature& s) {
  const resolution found = select(where_, c, s);
  last_call& last = last_calls_[static_cast<std::size_t>(c.what)];
  last.found = nullptr;
  // Calls with a named choice are not kept: each use of a name is counted, and a name that does not
  // fit is reported for each call.
  const bool decided_by_trees = c.algorithm == nullptr && c.composition == nullptr &&
                                !found.used_forced_algorithm && !found.used_forced_composition &&
                                found.rejected_names.empty();
  const auto keep = [&](prepared_call& p) -> prepared_call& {
    if (decided_by_trees) last = {s, c.root, &p};
    return p;
  };
  for (const auto& k : calls_)
    if (k->chosen == found.pure && k->composed == found.composed && k->what == c.what && k->root == c.root &&
        k->in_place == c.in_place && k->commutative == s.commutative)
      return keep(*k);
  auto made = std::make_unique<prepared_call>();
  made->chosen = found.pure;
  made->composed = found.composed;
  made->what = c.what;
  made->root = c.root;
  made->in_place = c.in_place;
  made->commutative = s.commutative;
  if (found.composed.which != nullptr) {
    made->name = found.composed.which->name.data();
    made->blocking_composite = std::make_unique<composite_run>();
  } else {
    made->name = name_of_choice(c.what, found.pure);
    shape sh;
    sh.what = c.what;
    sh.size = where_.size();
    sh.rank = where_.rank();
    sh.root = c.root;
    sh.in_place = c.in_place;
    sh.commutative = s.commutative;
    sh.first_group = where_.graph().first_group;
    sh.sources = where_.graph().sources;
    sh.destinations = where_.graph().destinations;
    made->bound = std::make_unique<bound_schedule>(made->name, write(found.pure, sh), where_.engine_context(),
                                                   where_.peers());
    made->blocking = std::make_unique<schedule_run>();
  }
  calls_.push_back(std::move(made));
  return keep(*calls_.back());
}

std::shared_ptr<bound_composition> schedule_store::plan(const call& c, const prepared_call& p,
                                                        bool blocking) {
  planner by(c, where_.rank(), where_.nodes(), p.composed.parameter_values);
  p.composed.which->plan(by);
  composite_plan made = by.finish();
  const bool traced = where_.this_rank().trace != nullptr;
  std::vector<bound_schedule*> schedules;
  std::vector<inner_call> inner_calls;
  for (const subcall& sub : made.calls) {
    const std::vector<int>& ranks = made.groups[static_cast<std::size_t>(sub.group)];
    const inner_schedule& one = find_inner(c, sub, ranks, blocking);
    schedules.push_back(one.bound.get());
    if (traced)
      inner_calls.push_back({sub.what, ranks.empty() ? where_.size() : static_cast<int>(ranks.size()),
                             sub.count, sub.in_place, one.chosen});
  }
  auto bound = std::make_unique<bound_composite_plan>(p.name, std::move(made), std::move(schedules),
                                                      where_.engine_context());
  return std::make_shared<bound_composition>(bound_composition{c.count, c.type, c.op.which,
                                                               c.algorithm != nullptr ? c.algorithm : "",
                                                               std::move(bound), std::move(inner_calls)});
}

// The pure tree alone selects it, so that no composition contains another.
schedule_store::inner_schedule& schedule_store::find_inner(const call& c, const subcall& sub,
                                                           const std::vector<int>& ranks, bool blocking) {
  const selection_context s = inner_selection_context(
      selection_context_of(where_, agreed_part(c, where_.size())), c, sub, ranks, where_.nodes(), blocking,
      [&](const agreed_signature& one) { return offers_native(where_, one); });
  const named_choice named{sub.what == c.what ? c.algorithm : nullptr, nullptr};
  const resolution found = resolve_inside(*where_.this_rank().by, s, named, true, where_.rank());
  count_overrides(where_, sub.what, found, false);
  if (!found.served)
    where_.reject(name_of(c.what).data(), "composition",
                  "no algorithm serves the inner " + std::string(name_of(sub.what)) + " on this engine",
                  "name another composition, or @pure");
  for (const auto& k : inner_calls_)
    if (k->chosen == found.pure && k->what == sub.what && k->root == sub.root &&
        k->in_place == sub.in_place && k->ranks == ranks && k->commutative == s.call.commutative)
      return *k;
  shape sh;
  sh.what = sub.what;
  sh.size = s.call.ranks;
  sh.rank = where_.rank();
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] == where_.rank()) sh.rank = static_cast<int>(i);
  sh.root = sub.root;
  sh.in_place = sub.in_place;
  sh.commutative = s.call.commutative;
  auto made = std::make_unique<inner_schedule>(
      inner_schedule{found.pure, sub.what, sub.root, sub.in_place, s.call.commutative, ranks, nullptr});
  made->bound = std::make_unique<bound_schedule>(name_of_choice(sub.what, found.pure), write(found.pure, sh),
                                                 where_.engine_context(), where_.peers(), ranks);
  inner_calls_.push_back(std::move(made));
  return *inner_calls_.back();
}

}  // namespace tutti::detail

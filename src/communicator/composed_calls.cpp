// SPDX-License-Identifier: Apache-2.0
//
// Composed calls: the program of one, and the schedules of the calls that it makes. These are chosen by the
// pure tree alone, so that a composition never leads to another.
#include "communicator/communicator_impl.hpp"
#include "schedule/composite/planner.hpp"
#include "selection/inner_calls.hpp"

namespace tutti::detail {

std::shared_ptr<communicator_impl::planned> communicator_impl::plan(const call& c, const prepared& p,
                                                                    bool blocking) {
  planner by(c, rank(), *layout_, p.composed.parameter_values);
  p.composed.which->plan(by);
  composite_plan made = by.finish();
  std::vector<bound_schedule*> schedules;
  std::vector<inner_call> inside;
  for (const subcall& sub : made.calls) {
    const std::vector<int>& ranks = made.groups[static_cast<std::size_t>(sub.group)];
    const inner& one = inner_schedule(c, sub, ranks, blocking);
    schedules.push_back(one.bound.get());
    if (shared_->trace)
      inside.push_back({sub.what, ranks.empty() ? size() : static_cast<int>(ranks.size()), sub.count,
                        sub.in_place, one.chosen});
  }
  auto bound = std::make_unique<bound_composite_plan>(p.name, std::move(made), std::move(schedules), *where_);
  return std::make_shared<planned>(planned{c.count, c.type, c.op.which,
                                           c.algorithm != nullptr ? c.algorithm : "", std::move(bound),
                                           std::move(inside)});
}

communicator_impl::inner& communicator_impl::inner_schedule(const call& c, const subcall& sub,
                                                            const std::vector<int>& ranks, bool blocking) {
  const selection_context s =
      inner_selection_context(selection_context_of(agreed_part(c, size())), c, sub, ranks, *layout_, blocking,
                              [&](const agreed_signature& one) { return offers_native(one); });
  const named_choice named{sub.what == c.what ? c.algorithm : nullptr, nullptr};
  const resolution found = resolve_inside(*shared_->by, s, named, true, rank());
  note(sub.what, found, false);
  if (!found.served)
    refuse(name_of(c.what).data(), "composition",
           "no algorithm serves the inner " + std::string(name_of(sub.what)) + " on this engine",
           "name another composition, or @pure");
  for (const auto& k : inner_)
    if (k->chosen == found.pure && k->what == sub.what && k->root == sub.root &&
        k->in_place == sub.in_place && k->ranks == ranks && k->commutative == s.call.commutative)
      return *k;
  shape sh;
  sh.what = sub.what;
  sh.size = s.call.ranks;
  sh.rank = rank();
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] == rank()) sh.rank = static_cast<int>(i);
  sh.root = sub.root;
  sh.in_place = sub.in_place;
  sh.commutative = s.call.commutative;
  auto made = std::make_unique<inner>(
      inner{found.pure, sub.what, sub.root, sub.in_place, s.call.commutative, ranks, nullptr});
  made->bound = std::make_unique<bound_schedule>(name_of_choice(sub.what, found.pure), write(found.pure, sh),
                                                 *where_, *links_, ranks);
  inner_.push_back(std::move(made));
  return *inner_.back();
}

}  // namespace tutti::detail

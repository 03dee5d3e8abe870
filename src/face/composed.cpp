// SPDX-License-Identifier: Apache-2.0
//
// Composed calls: the program of one, and the schedules of the calls that it makes. These are chosen by the
// pure tree alone, so that a composition never leads to another.
#include "compose/planner.hpp"
#include "face/core.hpp"

namespace tutti::detail {

// Calls of the engine's own collectives match by their order. Calls inside of nonblocking ones come in
// another order on every rank, but for the first of each.
std::shared_ptr<core::planned> core::plan(const call& c, const prepared& p, bool blocking) {
  planner by(c, rank(), *layout_, p.composed.knobs);
  p.composed.which->plan(by);
  program made = by.finish();
  std::vector<bound_schedule*> schedules;
  for (const subcall& sub : made.calls)
    schedules.push_back(&inner_schedule(c, sub, made.groups[static_cast<std::size_t>(sub.group)],
                                        sub.group == 0 && (blocking || sub.number == 0)));
  auto bound = std::make_unique<bound_program>(p.name, std::move(made), std::move(schedules), *where_);
  return std::make_shared<planned>(planned{c.count, c.type.size, std::move(bound)});
}

bound_schedule& core::inner_schedule(const call& c, const subcall& sub, const std::vector<int>& ranks,
                                     bool native) {
  call like;
  like.what = sub.what;
  like.in_place = sub.in_place;
  like.root = sub.root;
  like.type = c.type;
  like.count = sub.count;
  like.op = c.op;
  const int members = ranks.empty() ? size() : static_cast<int>(ranks.size());
  situation s = situation_of(agreed_part(like, members));
  if (!ranks.empty()) {
    s.lie_on(layout_->restricted_to(ranks));
    s.whole_job = false;
  }
  s.native = s.native && native;
  const named_choice named{sub.what == c.what ? c.algorithm : nullptr, nullptr};
  const resolution found = resolve_inside(*shared_->by, s, named, true, rank());
  note(sub.what, found, false);
  if (!found.served)
    refuse(name_of(c.what).data(), "composition",
           "no algorithm serves the " + std::string(name_of(sub.what)) + " inside of it on this engine",
           "name another composition, or @pure");
  for (const auto& k : inner_)
    if (k->chosen == found.pure && k->what == sub.what && k->root == sub.root &&
        k->in_place == sub.in_place && k->ranks == ranks && k->commutative == s.call.commutative)
      return *k->bound;
  shape sh;
  sh.what = sub.what;
  sh.size = members;
  sh.rank = rank();
  for (std::size_t i = 0; i < ranks.size(); ++i)
    if (ranks[i] == rank()) sh.rank = static_cast<int>(i);
  sh.root = sub.root;
  sh.in_place = sub.in_place;
  sh.commutative = s.call.commutative;
  auto made = std::make_unique<inner>(
      inner{found.pure, sub.what, sub.root, sub.in_place, s.call.commutative, ranks, nullptr});
  made->bound = std::make_unique<bound_schedule>(name_of_choice(sub.what, found.pure), write(found.pure, sh),
                                                 *where_, links_, ranks);
  inner_.push_back(std::move(made));
  return *inner_.back()->bound;
}

}  // namespace tutti::detail

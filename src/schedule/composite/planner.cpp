// SPDX-License-Identifier: Apache-2.0
#include "schedule/composite/planner.hpp"

#include <algorithm>

namespace tutti {

planner::planner(const call& c, int rank, const hierarchy& layout,
                 const algorithm_parameter_values& parameter_values)
    : call_(c), rank_(rank), layout_(layout), parameter_values_(parameter_values) {}

std::size_t planner::elements_of(std::size_t bytes) const noexcept {
  return std::max<std::size_t>(1, bytes / std::max<std::size_t>(1, call_.type.size));
}

area planner::operand() const noexcept {
  if (!call_.in_place) return input();
  const auto own = static_cast<std::size_t>(rank_);
  switch (call_.what) {
    case collective::scatter:
      return input() + own * call_.count;
    case collective::scatterv:
      return input();
    case collective::gather:
      return rank_ == call_.root ? output() + own * call_.count : output();
    case collective::allgather:
      return output() + own * call_.count;
    default:
      return output();
  }
}

area planner::scratch(std::size_t elements) {
  const area made{buffer::scratch0, made_.scratch};
  // Areas must differ: a call with equal input and output would be in place.
  made_.scratch +=
      std::max<std::size_t>(1, elements);
  return made;
}

subgroup planner::all() noexcept {
  subgroup g;
  g.size_ = size();
  g.place_ = rank_;
  return g;
}

subgroup planner::node(int level) {
  const auto members = layout_.members(layout_.node_of(rank_, level), level);
  if (level == 0) return list({members.begin(), members.end()});
  std::vector<int> ranks;
  for (const int r : members)
    if (layout_.leader_of(r, level - 1) == r) ranks.push_back(r);
  return list(std::move(ranks));
}

subgroup planner::leaders() {
  const int top = layout_.levels() - 1;
  std::vector<int> ranks;
  for (int n = 0; n < layout_.nodes(top); ++n) ranks.push_back(layout_.members(n, top)[0]);
  return list(std::move(ranks));
}

subgroup planner::lane() {
  const auto place = static_cast<std::size_t>(layout_.place_of(rank_));
  std::vector<int> ranks;
  for (int n = 0; n < layout_.nodes(); ++n)
    if (const auto members = layout_.members(n); place < members.size()) ranks.push_back(members[place]);
  return list(std::move(ranks));
}

subgroup planner::list(std::vector<int> ranks) {
  subgroup g;
  g.size_ = static_cast<int>(ranks.size());
  const auto own = std::find(ranks.begin(), ranks.end(), rank_);
  g.place_ = own == ranks.end() ? -1 : static_cast<int>(own - ranks.begin());
  bool all = g.size_ == size();
  for (int r = 0; all && r < g.size_; ++r) all = ranks[static_cast<std::size_t>(r)] == r;
  if (all) return g;
  auto& groups = made_.groups;
  const auto known = std::find(groups.begin() + 1, groups.end(), ranks);
  g.index_ = static_cast<std::int32_t>(known - groups.begin());
  if (known == groups.end()) groups.push_back(std::move(ranks));
  return g;
}

planner::ticket planner::start(const subgroup& group, subcall c) {
  c.number = next_++;
  if (c.what == collective::bcast &&
      c.in_place) {  // bcast has one buffer: its inner calls have input equal to output
    c.input = c.output;
    c.in_place = false;
  }
  if (!group.member()) return -1;
  c.group = group.index_;
  made_.steps.push_back({composite_step::kind::start, static_cast<std::uint32_t>(made_.calls.size())});
  made_.calls.push_back(std::move(c));
  return static_cast<ticket>(made_.calls.size() - 1);
}

void planner::wait(ticket t) {
  if (t >= 0) made_.steps.push_back({composite_step::kind::wait, static_cast<std::uint32_t>(t)});
}

void planner::copy(area from, area to, std::size_t n) {
  if (from == to || n == 0) return;
  copying one;
  one.from = from;
  one.to = to;
  one.n = n;
  copy(one);
}

void planner::copy(const copying& c) {
  made_.steps.push_back({composite_step::kind::copy, static_cast<std::uint32_t>(made_.copies.size())});
  made_.copies.push_back(c);
}

void planner::combine(area left, area right, area to, std::size_t n) {
  if (n == 0) return;
  made_.steps.push_back(
      {composite_step::kind::combine, static_cast<std::uint32_t>(made_.combinations.size())});
  made_.combinations.push_back({left, right, to, n});
}

composite_plan planner::finish() { return std::move(made_); }

}  // namespace tutti

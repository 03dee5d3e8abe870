// SPDX-License-Identifier: Apache-2.0
#include "schedule/composite/planner.hpp"

#include <algorithm>

namespace tutti::detail {

planner::planner(const call& c, int rank, const hierarchy& topology,
                 const algorithm_parameter_values& parameter_values)
    : call_(c), rank_(rank), topology_(topology), parameter_values_(parameter_values) {}

std::size_t planner::elements_of(std::size_t bytes) const noexcept {
  return std::max<std::size_t>(1, bytes / std::max<std::size_t>(1, call_.type.size));
}

area planner::operand() const noexcept {
  if (!call_.in_place) return input();
  const auto rank = static_cast<std::size_t>(rank_);
  switch (call_.what) {
    case collective::scatter:
      return input() + rank * call_.count;
    case collective::scatterv:
      return input();
    case collective::gather:
      return rank_ == call_.root ? output() + rank * call_.count : output();
    case collective::allgather:
      return output() + rank * call_.count;
    default:
      return output();
  }
}

area planner::scratch(std::size_t elements) {
  const area added{buffer::scratch0, plan_.scratch};
  // Areas must differ: a call with equal input and output would be in place.
  plan_.scratch += std::max<std::size_t>(1, elements);
  return added;
}

subgroup planner::all() noexcept {
  subgroup g;
  g.size_ = size();
  g.position_ = rank_;
  return g;
}

subgroup planner::node(int level) {
  const auto members = topology_.members(topology_.node_of(rank_, level), level);
  if (level == 0) return list({members.begin(), members.end()});
  std::vector<int> ranks;
  for (const int r : members)
    if (topology_.leader_of(r, level - 1) == r) ranks.push_back(r);
  return list(std::move(ranks));
}

subgroup planner::leaders() {
  const int top = topology_.levels() - 1;
  std::vector<int> ranks;
  for (int n = 0; n < topology_.nodes(top); ++n) ranks.push_back(topology_.members(n, top)[0]);
  return list(std::move(ranks));
}

subgroup planner::lane() {
  const auto position = static_cast<std::size_t>(topology_.position_in_node(rank_));
  std::vector<int> ranks;
  for (int n = 0; n < topology_.nodes(); ++n)
    if (const auto members = topology_.members(n); position < members.size())
      ranks.push_back(members[position]);
  return list(std::move(ranks));
}

subgroup planner::list(std::vector<int> ranks) {
  subgroup g;
  g.size_ = static_cast<int>(ranks.size());
  const auto self = std::find(ranks.begin(), ranks.end(), rank_);
  g.position_ = self == ranks.end() ? -1 : static_cast<int>(self - ranks.begin());
  bool all = g.size_ == size();
  for (int r = 0; all && r < g.size_; ++r) all = ranks[static_cast<std::size_t>(r)] == r;
  if (all) return g;
  auto& groups = plan_.groups;
  const auto found = std::find(groups.begin() + 1, groups.end(), ranks);
  g.index_ = static_cast<std::int32_t>(found - groups.begin());
  if (found == groups.end()) groups.push_back(std::move(ranks));
  return g;
}

planner::request planner::start(const subgroup& group, subcall c) {
  c.sequence_number = next_++;
  // A bcast has one buffer: its inner calls have input equal to output.
  if (c.what == collective::bcast && c.in_place) {
    c.input = c.output;
    c.in_place = false;
  }
  if (!group.member()) return -1;
  c.group = group.index_;
  plan_.steps.push_back({composite_step::kind::start, static_cast<std::uint32_t>(plan_.calls.size())});
  plan_.calls.push_back(std::move(c));
  return static_cast<request>(plan_.calls.size() - 1);
}

void planner::wait(request t) {
  if (t >= 0) plan_.steps.push_back({composite_step::kind::wait, static_cast<std::uint32_t>(t)});
}

void planner::copy(area from, area to, std::size_t n) {
  if (from == to || n == 0) return;
  copy_step one;
  one.from = from;
  one.to = to;
  one.n = n;
  copy(one);
}

void planner::copy(const copy_step& c) {
  plan_.steps.push_back({composite_step::kind::copy, static_cast<std::uint32_t>(plan_.copies.size())});
  plan_.copies.push_back(c);
}

void planner::combine(area left, area right, area to, std::size_t n) {
  if (n == 0) return;
  plan_.steps.push_back(
      {composite_step::kind::combine, static_cast<std::uint32_t>(plan_.combinations.size())});
  plan_.combinations.push_back({left, right, to, n});
}

composite_plan planner::finish() { return std::move(plan_); }

}  // namespace tutti::detail

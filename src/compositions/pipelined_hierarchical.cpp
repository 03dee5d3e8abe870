// SPDX-License-Identifier: Apache-2.0
//
// bcast/pipelined_hierarchical, reduce/pipelined_hierarchical, allreduce/pipelined_hierarchical
//
// The same as node_leader, segment by segment: while the leaders process one segment, the nodes
// process the one before or after it. Each further level of the hierarchy adds a stage.
//
// Source:       Awan et al. 2017 (pipelined hierarchical bcast); Open MPI (HAN, Luo et al. 2020)
// Restrictions: rank_order
// Parameters:   segment = 131072 in 1..1073741824: bytes of one call, more if there would be above
//                 1024 calls
// Calls:        in the node bcast or reduce; among the leaders the same collective; a segment each,
//                 all stages in progress together
// Good for:     long vectors on many nodes
#include "compositions/parts/common_calls.hpp"
#include "compositions/parts/levels.hpp"
#include "compositions/parts/segments.hpp"
#include "compositions/parts/write_plan.hpp"
#include "schedule/composite/composition.hpp"

namespace tutti::compositions::pipelined_hierarchical {

namespace {

using groups = std::vector<parts::level_group>;

// stage(k, begin, length) starts the k-th call of a segment. The stages of one time step are in
// progress together.
template <class Stage>
void in_stages(planner& p, std::size_t stages, const Stage& stage) {
  const parts::segments cut(p, stages);
  for (std::size_t time = 0; time < cut.count() + stages - 1; ++time) {
    std::vector<planner::request> in_progress;
    for (std::size_t i = 0; i < cut.count(); ++i)
      if (i <= time && time - i < stages) in_progress.push_back(stage(time - i, cut.begin(i), cut.length(i)));
    for (const planner::request t : in_progress) p.wait(t);
  }
}

planner::request start(planner& p, const parts::level_group& g, subcall c) {
  if (!g.has_peers()) {
    p.skip();
    return -1;
  }
  c.nonblocking = true;
  return p.start(g.group, std::move(c));
}

// For each group l: the area of this rank's contribution. It is the operand until this rank has
// combined others' values.
std::vector<area> contributions(planner& p, const groups& g, area result) {
  std::vector<area> all;
  area mine = p.operand();
  for (const auto& one : g) {
    all.push_back(mine);
    if (one.has_peers() && one.is_leader) mine = result;
  }
  all.push_back(mine);
  return all;
}

void bcast(planner& p) {
  const groups g = parts::levels_of(p, p.root());
  const area data = p.rank() == p.root() ? p.operand() : p.output();
  in_stages(p, g.size(), [&](std::size_t stage, std::size_t begin, std::size_t n) {
    const auto& at = g[g.size() - 1 - stage];
    return start(p, at, parts::bcast(data + begin, n, at.leader));
  });
}

void reduce(planner& p) {
  const groups g = parts::levels_of(p, p.root());
  bool receives = false;
  for (const auto& one : g) receives = receives || (one.is_leader && one.has_peers());
  const bool root = p.rank() == p.root();
  const area result = root ? p.output() : p.scratch(receives ? p.count() : 0);
  const auto mine = contributions(p, g, result);
  in_stages(p, g.size(), [&](std::size_t l, std::size_t begin, std::size_t n) {
    return start(p, g[l], parts::reduce(mine[l] + begin, result + begin, g[l].is_leader, n, g[l].leader));
  });
  if (root) p.copy(mine.back(), result, p.count());
}

void allreduce(planner& p) {
  const groups g = parts::levels_of(p, 0);
  const std::size_t top = g.size() - 1;
  const area result = p.output();
  const auto mine = contributions(p, g, result);
  // All leaders call with their operands in place, or none does.
  const bool combined = p.topology().nodes(p.topology().levels() - 1) < p.size();
  in_stages(p, 2 * top + 1, [&](std::size_t stage, std::size_t begin, std::size_t n) {
    if (stage < top)
      return start(
          p, g[stage],
          parts::reduce(mine[stage] + begin, result + begin, g[stage].is_leader, n, g[stage].leader));
    if (stage > top) {
      const auto& at = g[2 * top - stage];
      return start(p, at, parts::bcast(result + begin, n, at.leader));
    }
    if (g[top].group.member() && (combined || !g[top].has_peers()))
      p.copy(mine[top] + begin, result + begin, n);
    return start(
        p, g[top],
        parts::call_of(collective::allreduce, (combined ? result : mine[top]) + begin, result + begin, n));
  });
}

}  // namespace

void plan(planner& p) {
  parts::write_plan(
      p, {{collective::bcast, bcast}, {collective::reduce, reduce}, {collective::allreduce, allreduce}});
}

}  // namespace tutti::compositions::pipelined_hierarchical

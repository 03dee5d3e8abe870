// SPDX-License-Identifier: Apache-2.0
#include "proof/composed_cases.hpp"

#include <algorithm>
#include <set>

#include "proof/composite_proof.hpp"
#include "selection/restrictions.hpp"

namespace tutti::proof {
namespace {

constexpr std::size_t max_findings = 4;  // findings reported for one number of ranks
constexpr int max_ranks_exhaustive = 5;  // up to this many ranks all combinations are tried
using levels = std::vector<std::vector<int>>;

std::uint32_t next(std::uint32_t& state) {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

// Calls the node_of function of each level with every rank, also for coarse levels.
template <class... Node>
levels nodes_from(int ranks, const Node&... node) {
  levels all;
  (all.push_back([&] {
    std::vector<int> one;
    for (int r = 0; r < ranks; ++r) one.push_back(node(r));
    return one;
  }()),
   ...);
  return all;
}

// Pseudorandom nodes of 1 .. `max_width` ranks, and coarse nodes of 1 .. 3 nodes; consecutive or
// scattered.
levels random_nodes(int ranks, int max_width, bool scattered, std::uint32_t seed) {
  std::vector<int> fine, coarse;
  for (int node = 0; static_cast<int>(fine.size()) < ranks; ++node)
    for (int n = 1 + static_cast<int>(next(seed)) % max_width; n > 0; --n) fine.push_back(node);
  fine.resize(static_cast<std::size_t>(ranks));
  if (scattered)
    for (std::size_t i = fine.size(); i > 1; --i) std::swap(fine[i - 1], fine[next(seed) % i]);
  const int each = 1 + static_cast<int>(next(seed)) % 3;
  for (const int node : fine) coarse.push_back(node / each);
  return {fine, coarse};
}

levels without_coarse(levels all) {
  all.resize(1);
  return all;
}

std::vector<algorithm_parameter_values> parameter_choices(const composed_algorithm& c) {
  std::vector<algorithm_parameter_values> all{c.default_values()};
  for (const algorithm_parameter_range& k : c.parameters) {
    std::vector<std::uint32_t> values{k.default_value};
    if (k.which == algorithm_parameter::leaders) values = {1, 2, 3, 64};
    if (k.which == algorithm_parameter::segment) values = {1, 16, 40, k.default_value};
    if (k.which == algorithm_parameter::window) values = {1, 3};
    std::vector<algorithm_parameter_values> more;
    for (const algorithm_parameter_values& v : all)
      for (const std::uint32_t value : values) {
        more.push_back(v);
        more.back()[static_cast<std::size_t>(k.which)] = std::clamp(value, k.min, k.max);
      }
    all = std::move(more);
  }
  return all;
}

std::vector<int> roots_of(collective what, int ranks, int number, bool exhaustive) {
  if (!is_rooted(what)) return {0};
  std::vector<int> all;
  if (ranks <= 9 || exhaustive) {
    for (int r = 0; r < ranks; ++r) all.push_back(r);
  } else {
    const std::set<int> some{0, ranks / 2, ranks - 1, (7 * number + 3) % ranks};
    all.assign(some.begin(), some.end());
  }
  return all;
}

std::vector<std::size_t> counts_of(collective what, int ranks, int number, bool exhaustive) {
  if (what == collective::barrier) return {0};
  const auto p = static_cast<std::size_t>(ranks);
  if (exhaustive || ranks <= max_ranks_exhaustive) {
    const std::set<std::size_t> all{0, 1, 2, 5, p, 37};
    return {all.begin(), all.end()};
  }
  if (ranks <= 20) return {static_cast<std::size_t>(number % 3), number % 2 == 0 ? p : 37};
  return {static_cast<std::size_t>(number % 3), 5};
}

void run_one(const composed_algorithm& c, const case_options& w, const hierarchy& topology, bool everywhere,
             proof_result& all) {
  const abstract_call p = make_abstract_call(w);
  composite_outcome o;
  try {
    o = run_composite_plans(p, make_composite_plans(c.plan, p, topology, everywhere), everywhere);
  } catch (const std::exception& e) {
    o.faults.push_back({-1, -1, e.what()});
  }
  ++all.calls;
  all.messages += o.calls;
  all.combined += o.combined;
  for (fault& f : o.faults)
    if (all.findings.size() < max_findings)
      all.findings.push_back(
          {std::string(c.name), p.ranks,
           p.text() + (everywhere ? ", on all ranks" : "") + ", on nodes " + text_of(topology),
           std::move(f)});
}

}  // namespace

std::vector<hierarchy> topologies_of(int ranks, bool some) {
  std::vector<levels> all;
  const auto add = [&](levels l) {
    if (std::find(all.begin(), all.end(), l) == all.end()) all.push_back(std::move(l));
  };
  const auto seed = static_cast<std::uint32_t>(ranks);
  add(nodes_from(ranks, [](int) { return 0; }));
  add(nodes_from(ranks, [](int r) { return r; }));
  add(nodes_from(ranks, [&](int r) { return r % 2; }));
  add(nodes_from(
      ranks, [](int r) { return r / 2; }, [](int r) { return r / 6; }));
  add(random_nodes(ranks, 5, true, seed));
  if (some) return {all.begin(), all.end()};
  for (int width = 2; width <= ranks / 2; ++width) {
    if (ranks % width != 0 && width > 4) continue;
    add(nodes_from(ranks, [&](int r) { return r / width; }));
    add(nodes_from(ranks, [&](int r) { return r % (ranks / width); }));
    add(nodes_from(
        ranks, [&](int r) { return r / width; }, [&](int r) { return r / (2 * width); }));
    add(nodes_from(
        ranks, [&](int r) { return r % 6; }, [&](int r) { return r % 3; }));
    add(nodes_from(
        ranks, [&](int r) { return r / width; }, [&](int r) { return r / width; },
        [&](int r) { return r / (3 * width); }));
  }
  // Nodes of 3, 1 and 4 ranks.
  add(nodes_from(ranks, [](int r) { return r % 8 < 3 ? r / 8 * 3 : r / 8 * 3 + (r % 8 < 4 ? 1 : 2); }));
  add(nodes_from(ranks, [&](int r) { return r == ranks - 1 ? 1 : 0; }));
  add(nodes_from(ranks, [](int r) { return r == 0 ? 0 : 1; }));
  for (std::uint32_t i = 0; i < 4; ++i) {
    add(random_nodes(ranks, 4, i % 2 == 0, seed * 7 + i));
    add(without_coarse(random_nodes(ranks, 6, i % 2 == 1, seed * 11 + i)));
  }
  return {all.begin(), all.end()};
}

std::string text_of(const hierarchy& topology) {
  std::string all;
  for (int l = 0; l < topology.levels(); ++l) {
    if (l > 0) all += " / ";
    for (int r = 0; r < topology.ranks(); ++r)
      all += (r > 0 ? ":" : "") + std::to_string(topology.node_of(r, l));
  }
  return all;
}

bool serves(const composed_algorithm& c, const hierarchy& topology, bool ordered, bool in_place,
            std::size_t count) {
  call requested;
  requested.what = c.what;
  requested.count = count;
  requested.in_place = in_place;
  requested.op.which = ordered ? builtin_op::user : builtin_op::sum;
  requested.op.commutative = !ordered;
  requested.type = element_of<std::uint64_t>();
  selection_context s{.call = agreed_part(requested, topology.ranks()), .shared_memory = true};
  s.set_topology(topology);
  return meets_demands(c, c.default_values(), s);
}

proof_result prove(const composed_algorithm& c, int ranks, bool exhaustive) {
  proof_result all;
  const auto topologies = topologies_of(ranks, ranks > 33 && !exhaustive);
  const bool reads_and_writes = c.what != collective::barrier && c.what != collective::bcast;
  const auto choices = parameter_choices(c);
  const bool every = exhaustive || ranks <= max_ranks_exhaustive;
  int number = 0;
  std::size_t turn = static_cast<std::size_t>(ranks);
  for (const hierarchy& topology : topologies) {
    ++number;
    for (const bool ordered : {false, true})
      for (const bool in_place : {false, true}) {
        if ((ordered && !combines(c.what)) || (in_place && !reads_and_writes)) continue;
        for (const std::size_t count : counts_of(c.what, ranks, number, true))
          if (serves(c, topology, ordered, in_place, count))
            all.topologies.all += choices.size() * roots_of(c.what, ranks, number, true).size();
        for (const algorithm_parameter_values& parameter_values :
             every ? choices : std::vector{choices[++turn % choices.size()]})
          for (const int root : roots_of(c.what, ranks, number, exhaustive))
            for (const std::size_t count : counts_of(c.what, ranks, number, exhaustive)) {
              if (!serves(c, topology, ordered, in_place, count)) continue;
              // A result that is correct in order is correct in any order.
              if (!every && !ordered && combines(c.what) && topology.consecutive() &&
                  serves(c, topology, true, in_place, count))
                continue;
              ++all.topologies.tried;
              case_options w;
              w.what = c.what;
              w.ranks = ranks;
              w.root = root;
              w.in_place = in_place;
              w.ordered = ordered;
              w.parameter_values = parameter_values;
              w.count = count;
              run_one(c, w, topology, false, all);
              if (in_place && is_rooted(c.what)) run_one(c, w, topology, true, all);
              if (!is_vector_form(c.what)) continue;
              w.blocks = blocks_are::even;
              run_one(c, w, topology, false, all);
            }
      }
  }
  return all;
}

}  // namespace tutti::proof

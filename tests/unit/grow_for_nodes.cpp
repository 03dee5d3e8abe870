// SPDX-License-Identifier: Apache-2.0
//
// Tests the trees that grow from calls on several nodes, with invented times: steps by nodes, then
// by ranks per node.
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/measured_choices.hpp"
#include "support/seed.hpp"
#include "tuning/candidates.hpp"
#include "tuning/grow.hpp"

namespace tutti::tuning {
namespace {

using enum collective;

selection_context on_nodes(selection_context s, int nodes, int each) {
  s.nodes = nodes;
  s.ranks_per_node = nodes == 1 ? s.call.ranks : each;
  s.shared_memory = false;
  return s;
}
// One measured call, `each` ranks on a node; 0: the nodes have different numbers of ranks.
cell measured_on(int ranks, int nodes, int each, const std::vector<time_of>& times) {
  cell c{on_nodes(call_of(bcast, ranks, 1024, false), nodes, each), 1024, {}, {}};
  for (const time_of& t : times) c.pure.push_back({algorithm(bcast, t.name), t.us, 0});
  return c;
}
const document& common() {
  static const document d = builtin_document("common");
  return d;
}
// The choice of `made` for a bcast of 1024 bytes.
std::string on(const document& made, int ranks, int nodes, int each) {
  return label(decide(overlay(common(), made), on_nodes(call_of(bcast, ranks, 1024, false), nodes, each)));
}
std::string without_trees(int ranks, int nodes, int each) {
  return label(decide(common(), on_nodes(call_of(bcast, ranks, 1024, false), nodes, each)));
}

grown grown_from(const document& base, const std::vector<cell>& cells) {
  grown g = grow(base, cells, {});
  EXPECT_EQ(faults_of(base, g.made), "") << write_tree(g.made);
  return g;
}

TEST(growing_for_nodes, distinguishes_nodes_and_then_ranks_per_node) {
  const std::string now = without_trees(64, 64, 1);
  ASSERT_EQ(now, without_trees(64, 8, 8));
  const auto cells = [&](const char* one_node, const char* of_1, const char* of_8) {
    const auto times = [&](const char* fastest) {
      return std::vector<time_of>{{now, 10}, {fastest, 5}, {"linear", 20}};
    };
    return std::vector<cell>{measured_on(64, 1, 64, times(one_node)), measured_on(64, 64, 1, times(of_1)),
                             measured_on(64, 8, 8, times(of_8))};
  };
  const grown g = grown_from(common(), cells("bine", "chain", "binary_pipeline"));
  ASSERT_EQ(g.changes.size(), 3u);
  EXPECT_EQ(on(g.made, 64, 1, 64), "bine");
  EXPECT_EQ(on(g.made, 64, 64, 1), "chain");
  EXPECT_EQ(on(g.made, 64, 8, 8), "binary_pipeline");
  // The boundary is near the geometric mean of 1 and 8. Nodes with different numbers of ranks have
  // the first choice, and the last one has no end.
  EXPECT_EQ(on(g.made, 64, 32, 2), "chain");
  EXPECT_EQ(on(g.made, 63, 21, 3), "binary_pipeline");
  EXPECT_EQ(on(g.made, 64, 2, 32), "binary_pipeline");
  EXPECT_EQ(on(g.made, 64, 9, 0), "chain");
  // Other numbers of ranks keep the choice of the base, with any nodes.
  for (const int ranks : {2, 16, 32, 65, 128})
    for (const int each : {1, 2, 8})
      EXPECT_EQ(on(g.made, ranks, ranks / each, each), without_trees(ranks, ranks / each, each)) << ranks;
}

TEST(growing_for_nodes, one_node_keeps_its_choice_if_it_was_not_measured) {
  const std::string now = without_trees(64, 8, 8);
  const grown g = grown_from(common(), {measured_on(64, 8, 8, {{now, 10}, {"chain", 5}})});
  EXPECT_EQ(on(g.made, 64, 8, 8), "chain");
  EXPECT_EQ(on(g.made, 64, 64, 1), "chain");  // the only measured number
  EXPECT_EQ(on(g.made, 64, 1, 64), without_trees(64, 1, 64));
}

// 12 ranks on nodes of 8 fill one and a half. Such calls are neither calls of one node nor of equal
// ones.
TEST(growing_for_nodes, nodes_with_different_numbers_of_ranks_are_not_one_node) {
  const std::string now = without_trees(12, 2, 0);
  const cell different = measured_on(12, 2, 0, {{now, 10}, {"chain", 5}}),
             one_node = measured_on(12, 1, 12, {{now, 10}, {"bine", 5}}),
             equal = measured_on(12, 12, 1, {{now, 10}, {"binary_pipeline", 5}});
  const grown alone = grown_from(common(), {different});
  EXPECT_EQ(on(alone.made, 12, 2, 0), "chain");
  EXPECT_EQ(on(alone.made, 12, 1, 12), without_trees(12, 1, 12));
  const grown beside = grown_from(common(), {different, one_node});
  EXPECT_EQ(on(beside.made, 12, 2, 0), "chain");
  EXPECT_EQ(on(beside.made, 12, 1, 12), "bine");
  // Equal nodes with the smallest number of ranks go before.
  const grown all = grown_from(common(), {different, one_node, equal});
  EXPECT_EQ(on(all.made, 12, 1, 12), "bine");
  EXPECT_EQ(on(all.made, 12, 12, 1), "binary_pipeline");
  EXPECT_EQ(on(all.made, 12, 2, 0), "binary_pipeline");
}

// For any times on any nodes the document is legal and total, and serves every call.
TEST(growing_for_nodes, is_legal_and_total_whatever_was_measured) {
  std::mt19937 random(static_cast<unsigned>(tests::seed_or(1)));
  constexpr struct {
    int ranks, nodes, each;
  } shapes[] = {{4, 1, 4},   {4, 4, 1},  {4, 2, 2},  {8, 8, 1},  {8, 1, 8},   {12, 12, 1}, {12, 2, 0},
                {16, 16, 1}, {16, 2, 8}, {24, 3, 8}, {60, 8, 0}, {64, 64, 1}, {64, 8, 8},  {64, 1, 64}};
  for (int round = 0; round < 60; ++round) {
    rules r;
    r.beat_native = round % 3 == 2;
    r.always.demand(condition::native, r.beat_native);
    if (!r.beat_native) r.always.demand(condition::inter, false);
    std::vector<cell> cells;
    for (std::size_t i = 0; i < collective_names.size(); ++i) {
      const auto what = static_cast<collective>(i);
      if (is_neighborhood(what)) continue;
      for (const auto& shape : shapes) {
        if (random() % 2 == 0) continue;
        for (const std::size_t size : {8, 32768}) {
          if (what == barrier && size != 8) continue;
          cell c{on_nodes(call_of(what, shape.ranks, what == barrier ? 0 : size, r.beat_native), shape.nodes,
                          shape.each),
                 size,
                 {},
                 {}};
          for (const candidate& one : pure_candidates(c.context, 16, false, {}))
            if (random() % 3 != 0)
              c.pure.push_back({one.use, 1 + static_cast<double>(random() % 1000) / 100, 0});
          if (c.pure.empty()) continue;
          if (shape.nodes > 1) {
            c.composed.push_back({composition(what, "@pure"), 3, 0});
            for (const candidate& one : composed_candidates(c.context, 16, false))
              c.composed.push_back({one.use, 1 + static_cast<double>(random() % 1000) / 100, 0});
          }
          cells.push_back(std::move(c));
        }
      }
    }
    const grown g = grow(common(), cells, r);
    ASSERT_EQ(faults_of(common(), g.made), "") << write_tree(g.made);
    const document both = overlay(common(), g.made);
    for (const cell& c : cells)
      for (const tree_half half : {tree_half::pure, tree_half::composition})
        ASSERT_TRUE(permits(decide(both, c.context, half), c.context))
            << label(decide(both, c.context, half));
  }
}

}  // namespace
}  // namespace tutti::tuning

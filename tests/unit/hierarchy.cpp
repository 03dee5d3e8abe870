// SPDX-License-Identifier: Apache-2.0
//
// Tests topologies of ranks on nodes: what the class reports for every rank against the plain list
// of nodes. Also tests the forms of TUTTI_NODES, rejected texts with their hints, and how the
// embedded engines use the variable.
#include "base/group/hierarchy.hpp"

#include <atomic>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "engines/embedded/sleep.hpp"
#include "engines/engine_table.hpp"
#include "support/check.hpp"
#include "support/contained_text.hpp"
#include "support/ranks.hpp"
#include "support/scoped_variable.hpp"
#include "support/seed.hpp"
#include "tutti/error.hpp"

namespace {

using namespace tutti;

using namespace tutti::detail;

using lists = std::vector<std::vector<int>>;

std::vector<int> nodes_of(const hierarchy& h, int level = 0) {
  std::vector<int> all;
  for (int r = 0; r < h.ranks(); ++r) all.push_back(h.node_of(r, level));
  return all;
}

// Everything that a topology reports follows from equal numbers in the lists.
void expect_layout(const hierarchy& h, const lists& node_of) {
  ASSERT_EQ(h.levels(), static_cast<int>(node_of.size()));
  bool all_consecutive = true;
  for (int l = 0; l < h.levels(); ++l) {
    const std::vector<int>& plain = node_of[static_cast<std::size_t>(l)];
    ASSERT_EQ(h.ranks(), static_cast<int>(plain.size()));
    EXPECT_EQ(h.nodes(l), static_cast<int>(std::set<int>(plain.begin(), plain.end()).size()));
    std::set<std::size_t> sizes;
    int seen = 0;  // nodes are numbered in the order of their first ranks
    for (int r = 0; r < h.ranks(); ++r) {
      std::vector<int> with;
      for (int q = 0; q < h.ranks(); ++q)
        if (plain[static_cast<std::size_t>(q)] == plain[static_cast<std::size_t>(r)]) with.push_back(q);
      const auto members = h.members(h.node_of(r, l), l);
      EXPECT_EQ(std::vector<int>(members.begin(), members.end()), with);
      EXPECT_EQ(h.leader_of(r, l), with.front());
      EXPECT_EQ(members[static_cast<std::size_t>(h.position_in_node(r, l))], r);
      if (with.front() == r) {
        EXPECT_EQ(h.node_of(r, l), seen++);
      }
      sizes.insert(with.size());
      all_consecutive = all_consecutive && with.back() - with.front() + 1 == static_cast<int>(with.size());
    }
    EXPECT_EQ(h.ranks_per_node(l), sizes.size() == 1 ? static_cast<int>(*sizes.begin()) : 0);
  }
  EXPECT_EQ(h.consecutive(), all_consecutive);
  EXPECT_EQ(h.hierarchical(), h.nodes() > 1 && h.nodes() < h.ranks());
}

TEST(hierarchy, ranks_without_more_are_one_node) {
  for (const int p : {1, 2, 7})
    expect_layout(hierarchy(p), {std::vector<int>(static_cast<std::size_t>(p), 5)});
}

TEST(hierarchy, describes_every_rank_as_the_lists_do) {
  std::mt19937 draw(static_cast<unsigned>(tests::seed_or(7)));
  for (int trial = 0; trial < 200; ++trial) {
    const int p = 1 + static_cast<int>(draw() % 13), fine = 1 + static_cast<int>(draw() % 6);
    lists node_of(2);
    for (int r = 0; r < p; ++r) {
      node_of[0].push_back(100 - static_cast<int>(draw() % static_cast<unsigned>(fine)));
      node_of[1].push_back(node_of[0].back() % 2);  // unions of fine nodes
    }
    expect_layout(hierarchy(node_of), node_of);
    expect_layout(hierarchy(lists{node_of[0]}), {node_of[0]});
  }
}

TEST(hierarchy, refuses_lists_that_are_no_layout) {
  EXPECT_THROW(hierarchy(lists{}), std::invalid_argument);
  EXPECT_THROW(hierarchy(lists{{0, 0, 1}, {0, 0}}), std::invalid_argument);
  EXPECT_THROW(hierarchy(lists{{0, 0, 1}, {0, 1, 1}}),
               std::invalid_argument);  // ranks 0, 1: node 0, then two
  EXPECT_NO_THROW(hierarchy(lists{{0, 0, 1}, {1, 1, 1}}));
}

TEST(hierarchy, a_group_sees_its_part) {
  const lists node_of{{0, 0, 1, 1, 2, 2, 3}, {0, 0, 0, 0, 1, 1, 1}};
  const hierarchy whole(node_of);
  for (const std::vector<int>& members :
       {std::vector<int>{0, 1, 2, 3, 4, 5, 6}, {6, 4, 2, 0}, {5, 0, 4, 1}, {3}, {1, 2}}) {
    lists part(2);
    for (std::size_t l = 0; l < 2; ++l)
      for (const int r : members) part[l].push_back(node_of[l][static_cast<std::size_t>(r)]);
    expect_layout(whole.restricted_to(members), part);
  }
}

TEST(read_nodes, accepts_every_form) {
  expect_layout(read_nodes("4x2", 8), {{0, 0, 1, 1, 2, 2, 3, 3}});
  expect_layout(read_nodes("2x4", 8), {{0, 0, 0, 0, 1, 1, 1, 1}});
  expect_layout(read_nodes("1x3", 3), {{0, 0, 0}});
  expect_layout(read_nodes("3x1", 3), {{0, 1, 2}});
  expect_layout(read_nodes("5", 5), {{0, 0, 0, 0, 0}});
  expect_layout(read_nodes("2x3x2", 12),
                {{0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5}, {0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1}});
  expect_layout(read_nodes("2x1x2x2", 8),
                {{0, 0, 1, 1, 2, 2, 3, 3}, {0, 0, 0, 0, 1, 1, 1, 1}, {0, 0, 0, 0, 1, 1, 1, 1}});
  expect_layout(read_nodes("3,1,4", 8), {{0, 0, 0, 1, 2, 2, 2, 2}});
  expect_layout(read_nodes("0:1:0:1", 4), {{0, 1, 0, 1}});
  expect_layout(read_nodes("1000000:7:7:0", 4), {{9, 7, 7, 0}});
  EXPECT_EQ(nodes_of(read_nodes("7:3:7", 3)), (std::vector<int>{0, 1, 0}));
  EXPECT_EQ(read_nodes("1000x1000", 1000000).nodes(), 1000);
}

struct refused {
  const char* text;
  int ranks;
  const char* why;
};

class read_nodes_refuses : public testing::TestWithParam<refused> {};

TEST_P(read_nodes_refuses, with_a_text_that_names_valid_values) {
  try {
    read_nodes(GetParam().text, GetParam().ranks);
    FAIL() << "it was accepted";
  } catch (const std::invalid_argument& fault) {
    EXPECT_NE(std::string(fault.what()).find(GetParam().why), std::string::npos) << fault.what();
  }
}

INSTANTIATE_TEST_SUITE_P(
    texts, read_nodes_refuses,
    testing::Values(
        refused{"4x3", 8, "is \"4x3\", which makes 12 ranks, but there are 8; write 4x2"},
        refused{"4x2", 6, "makes 8 ranks, but there are 6; write 3x2"},
        refused{"4x2", 7, "makes 8 ranks, but there are 7; write 1x7"},
        refused{"2x2x2", 4, "makes 8 ranks, but there are 4; write 2x2"},
        refused{"1", 3, "makes 1 rank, but there are 3; write 3x1"},
        refused{"3,1,4", 9, "makes 8 ranks, but there are 9; the ranks of all nodes must add up to 9"},
        refused{"0:1:0", 4, "gives the nodes of 3 ranks, but there are 4; give 4 numbers"},
        refused{"0:1:0:1:1", 4, "gives the nodes of 5 ranks, but there are 4"},
        refused{"4x0", 4, "a node has at least one rank"}, refused{"0x4", 4, "a node has at least one rank"},
        refused{"0", 1, "a node has at least one rank"}, refused{"4,0", 4, "a node has at least one rank"},
        refused{"4x99999999999999999999", 4, "\"99999999999999999999\" exceeds the maximum of 1000000"},
        refused{"1000001:0", 2, "\"1000001\" exceeds the maximum of 1000000"},
        refused{"1000000x1000000x1000000x1000000", 4, "makes more than 1000000 ranks, but there are 4"},
        refused{"1000000,1000000", 4, "makes more than 1000000 ranks"},
        refused{"1x1x1x1x1x1x1x1x1x1", 1, "has more than 8 levels"},
        refused{"", 4, "is empty; write 4x2 (4 nodes of 2 ranks)"},
        refused{"four", 4, "\"four\" is not a number; write 4x2"},
        refused{"-1x-4", 4, "\"-1\" is not a number"}, refused{"+2x2", 4, "\"+2\" is not a number"},
        refused{"2 x2", 4, "\"2 \" is not a number"}, refused{"2x2.0", 4, "\"2.0\" is not a number"},
        refused{"2X2", 4, "\"2X2\" is not a number; write 4x2"}, refused{"2x", 4, "which lacks a number"},
        refused{"x2", 4, "which lacks a number"}, refused{"2,,2", 4, "which lacks a number"},
        refused{":", 2, "which lacks a number"}, refused{"2x1,2", 4, "mixes 'x' and ','"},
        refused{"0:1,2", 3, "mixes ':' and ','"},
        refused{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 4, "aaa...\""}));

std::vector<std::string_view> engines_on_a_node() {
  std::vector<std::string_view> names;
  for (const engine_entry* e : engines())
    if (e->embedded() && e->shared_memory) names.push_back(e->name);
  return names;
}

class embedded_layout : public testing::TestWithParam<std::string_view> {
 protected:
  static testing::AssertionResult passes(int ranks, const rank_program& program) {
    return tests::passes(tests::job{std::string(GetParam()), ranks}, program);
  }
};
INSTANTIATE_TEST_SUITE_P(engines, embedded_layout, testing::ValuesIn(engines_on_a_node()), tests::by_name());

TEST_P(embedded_layout, is_one_node_unless_the_variable_is_set) {
  const auto check_layout = [&](const std::vector<int>& expected) {
    return [expected](endpoint& ep) {
      tests::check.equal(nodes_of(ep.topology()), expected);
      tests::check.equal(ep.topology().levels(), 1);
    };
  };
  EXPECT_TRUE(passes(4, check_layout({0, 0, 0, 0})));
  const tests::scoped_variable nodes("TUTTI_NODES", "5:2:5:1");
  EXPECT_TRUE(passes(4, check_layout({0, 1, 0, 2})));
}

TEST_P(embedded_layout, is_one_object_for_all_ranks) {
  const int p = 64;
  const tests::scoped_variable nodes("TUTTI_NODES", "16x4");
  std::vector<const hierarchy*> seen(p);
  EXPECT_TRUE(passes(p, [&](endpoint& ep) { seen[static_cast<std::size_t>(ep.rank())] = &ep.topology(); }));
  ASSERT_NE(seen.front(), nullptr);
  for (const hierarchy* one : seen) EXPECT_EQ(one, seen.front());
}

TEST_P(embedded_layout, that_is_wrong_is_an_error_before_any_rank_runs) {
  const tests::scoped_variable nodes("TUTTI_NODES", "3x2");
  std::atomic<int> ran{0};
  try {
    (void)passes(4, [&](endpoint&) { ++ran; });
    FAIL() << "it was accepted";
  } catch (const usage_error& fault) {
    EXPECT_EQ(fault.operation(), "run");
    EXPECT_EQ(fault.parameter(), "TUTTI_NODES");
    EXPECT_TRUE(tests::contains(fault.what(), "makes 6 ranks, but there are 4"));
  }
  EXPECT_EQ(ran, 0);
}

TEST_P(embedded_layout, reports_whether_there_are_more_ranks_than_cores) {
  const int cores = usable_cores();
  for (const int p : {1, cores, cores + 1}) {
    std::atomic<int> looked{0};
    EXPECT_TRUE(passes(p, [&](endpoint& ep) {
      const auto declared = find_engine(ep.engine())->conditions;
      const auto all = ep.conditions();
      tests::check.equal(all.size(), std::size_t{1});
      tests::check.equal(all[0].name, declared[0].name);
      tests::check.equal(all[0].name, "oversubscribed");
      tests::check.that(!all[0].meaning.empty() && !declared[0].holds);
      tests::check.equal(all[0].holds, p > cores);
      ++looked;
    }));
    EXPECT_EQ(looked, p);
  }
}

}  // namespace

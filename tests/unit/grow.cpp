// SPDX-License-Identifier: Apache-2.0
//
// Tests the way from measured numbers to decision trees, with invented numbers: which choices are
// made and which are not. Every document must be legal and, on top of the previous trees, total.
#include "tuning/grow.hpp"

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "support/measured_choices.hpp"
#include "support/seed.hpp"
#include "tuning/candidates.hpp"
#include "tuning/guidelines.hpp"
#include "tuning/tree_nodes.hpp"

namespace tutti::tuning {
namespace {

cell measured(collective what, int ranks, std::size_t size, std::vector<time_of> times,
              double spread = 0.02) {
  cell c{call_of(what, ranks, size), size, {}, {}};
  for (const time_of& t : times) c.pure.push_back({algorithm(what, t.name), t.us, spread});
  return c;
}

// The decision when `made` is on top of the base.
std::string decided(const document& base, const document& made, const selection_context& s,
                    tree_half half = tree_half::pure) {
  return label(decide(overlay(base, made), s, half));
}

grown grown_from(const document& base, const std::vector<cell>& cells, const rules& r = {}) {
  grown g = grow(base, cells, r);
  EXPECT_EQ(faults_of(base, g.made), "") << write_tree(g.made);
  return g;
}

std::size_t steps_of(const tree_node& n) {
  std::size_t all = n.is_leaf() ? 1 : 0;
  for (const tree_step& s : n.steps) all += steps_of(s.then);
  return all;
}

using enum collective;
const document& threads() {
  static const document d = builtin_document("threads");
  return d;
}

TEST(growing, keeps_the_choice_if_nothing_is_faster_beyond_the_noise) {
  const grown g =
      grown_from(threads(), {measured(alltoall, 4, 8, {{"native", 1}, {"pairwise", 0.99}, {"bruck", 2}}),
                             measured(alltoall, 4, 1024, {{"native", 1}, {"pairwise", 1.2}})});
  EXPECT_TRUE(g.changes.empty());
  EXPECT_TRUE(g.made.pure[static_cast<std::size_t>(alltoall)].empty()) << write_tree(g.made);
  const grown noisy =
      grown_from(threads(), {measured(alltoall, 4, 8, {{"native", 1}, {"pairwise", 0.8}}, 0.3)});
  EXPECT_TRUE(noisy.changes.empty());
  const grown floor =
      grown_from(threads(), {measured(alltoall, 4, 8, {{"native", 1}, {"pairwise", 0.98}}, 0)});
  EXPECT_TRUE(floor.changes.empty());
}

TEST(growing, changes_nothing_for_less_than_the_required_gain) {
  const std::vector<cell> cells = {measured(alltoall, 4, 8, {{"native", 1}, {"pairwise", 0.9}})};
  EXPECT_EQ(grown_from(threads(), cells).changes.size(), 1u);
  rules wary;
  wary.gain = 0.2;
  EXPECT_TRUE(grown_from(threads(), cells, wary).changes.empty());
  // A vector form has one leaf for all sizes: a gain at one size must not disappear in the mean.
  const auto sizes = [](double second) {
    return std::vector<cell>{measured(alltoallv, 4, 8, {{"native", 1}, {"tuna", 0.9}}),
                             measured(alltoallv, 4, 4096, {{"native", 3}, {"tuna", second}})};
  };
  EXPECT_EQ(grown_from(threads(), sizes(2.5)).changes.size(), 2u);
  EXPECT_TRUE(grown_from(threads(), sizes(3.05)).changes.empty());
}

// Two cells of the same call are two models of one machine.
TEST(growing, tolerates_as_much_loss_in_one_model_as_the_rules_say) {
  const std::vector<cell> cells = {measured(alltoall, 4, 8, {{"native", 1}, {"pairwise", 0.7}}),
                                   measured(alltoall, 4, 8, {{"native", 1}, {"pairwise", 1.2}})};
  EXPECT_TRUE(grown_from(threads(), cells).changes.empty());
  rules r;
  r.floor = 0.0005;
  r.tolerated_loss = 0.05;
  EXPECT_TRUE(grown_from(threads(), cells, r).changes.empty());
  r.tolerated_loss = 0.3;
  const grown g = grown_from(threads(), cells, r);
  ASSERT_EQ(g.changes.size(), 2u);
  EXPECT_EQ(label(g.changes[0].after), "pairwise");
  // The mean gain is 1.09.
  r.gain = 0.2;
  EXPECT_TRUE(grown_from(threads(), cells, r).changes.empty());
}

TEST(growing, takes_the_fastest_and_does_not_change_other_calls) {
  const std::vector<cell> cells = {
      measured(alltoall, 4, 8, {{"native", 1}, {"pairwise", 0.9}, {"bruck", 0.5}}),
      measured(alltoall, 4, 4096, {{"native", 3}, {"pairwise", 2}, {"bruck", 5}}),
      measured(alltoall, 4, 65536, {{"native", 20}, {"pairwise", 40}, {"bruck", 90}})};
  const grown g = grown_from(threads(), cells);
  ASSERT_EQ(g.changes.size(), 2u);
  EXPECT_EQ(label(g.changes[0].after), "bruck");
  EXPECT_EQ(g.changes[0].after_us, 0.5);
  EXPECT_EQ(g.changes[0].before_us, 1);
  const auto at = [&](int ranks, std::size_t bytes) {
    return decided(threads(), g.made, call_of(alltoall, ranks, bytes));
  };
  EXPECT_EQ(at(4, 8), "bruck");
  EXPECT_EQ(at(4, 128), "bruck");
  EXPECT_EQ(at(4, 136), "pairwise");  // 128 is the mean of 8 and 4096, rounded to a power of two
  EXPECT_EQ(at(4, 4096), "pairwise");
  EXPECT_EQ(at(4, 65536), "native");
  EXPECT_EQ(at(3, 8), "bruck");  // the same as for the next measured number, above half of it
  EXPECT_EQ(at(4, 0), "native");
  for (const int ranks : {1, 2, 5, 64})
    for (const std::size_t bytes : {0, 8, 256, 4096, 65536})
      EXPECT_EQ(at(ranks, bytes), label(decide(threads(), call_of(alltoall, ranks, bytes))))
          << ranks << " " << bytes;
  selection_context between = call_of(alltoall, 4, 8, false);
  between.call.inter = true;
  EXPECT_EQ(decided(threads(), g.made, between), "across");
}

TEST(growing, goes_no_further_than_four_times_the_largest_size) {
  const grown g = grown_from(threads(), {measured(alltoall, 4, 1024, {{"native", 1}, {"pairwise", 0.5}})});
  EXPECT_EQ(decided(threads(), g.made, call_of(alltoall, 4, 4096)), "pairwise");
  EXPECT_EQ(decided(threads(), g.made, call_of(alltoall, 4, 4104)), "native");
}

TEST(growing, joins_neighbors_and_smooths_a_winner_within_the_noise_of_its_neighbors) {
  std::vector<cell> cells;
  for (const std::size_t size : {8, 64, 512, 4096})
    cells.push_back(measured(alltoall, 4, size, {{"native", 10}, {"bruck", 5}, {"pairwise", 8}}));
  cells[2] = measured(alltoall, 4, 512, {{"native", 10}, {"bruck", 5.05}, {"pairwise", 5}});
  grown g = grown_from(threads(), cells);
  EXPECT_EQ(decided(threads(), g.made, call_of(alltoall, 4, 512)), "bruck");
  ASSERT_EQ(g.made.pure[static_cast<std::size_t>(alltoall)].size(), 1u);
  const std::size_t smooth = steps_of(g.made.pure[static_cast<std::size_t>(alltoall)][0].then);
  cells[2] = measured(alltoall, 4, 512, {{"native", 10}, {"bruck", 9}, {"pairwise", 5}});
  g = grown_from(threads(), cells);
  EXPECT_EQ(decided(threads(), g.made, call_of(alltoall, 4, 512)), "pairwise");
  EXPECT_EQ(decided(threads(), g.made, call_of(alltoall, 4, 4096)), "bruck");
  EXPECT_EQ(steps_of(g.made.pure[static_cast<std::size_t>(alltoall)][0].then), smooth + 2);
}

TEST(growing, demands_of_the_conditions_what_the_leaves_do) {
  // swing needs a commutative operator and a power of two; ring needs a commutative operator.
  const std::vector<cell> cells = {
      measured(allreduce, 3, 65536, {{"native", 10}, {"ring", 5}, {"recursive_doubling", 11}}),
      measured(allreduce, 4, 65536, {{"native", 10}, {"ring", 5}, {"swing", 2}, {"rabenseifner", 4}})};
  const grown g = grown_from(threads(), cells);
  const auto& regions = g.made.pure[static_cast<std::size_t>(allreduce)];
  ASSERT_FALSE(regions.empty());
  EXPECT_EQ(decided(threads(), g.made, call_of(allreduce, 4, 65536)), "swing");
  EXPECT_EQ(decided(threads(), g.made, call_of(allreduce, 3, 65536)), "ring");
  selection_context ordered = call_of(allreduce, 4, 65536);
  ordered.call.commutative = false;
  EXPECT_EQ(decided(threads(), g.made, ordered), label(decide(threads(), ordered)));
}

TEST(growing, has_a_choice_for_each_size) {
  const std::vector<cell> cells = {
      measured(allreduce, 4, 8, {{"native", 10}, {"recursive_doubling", 5}, {"ring", 20}}),
      measured(allreduce, 4, 65536, {{"native", 10}, {"rabenseifner", 3}, {"ring", 5}})};
  const grown g = grown_from(threads(), cells);
  EXPECT_EQ(decided(threads(), g.made, call_of(allreduce, 4, 8)), "recursive_doubling");
  EXPECT_EQ(decided(threads(), g.made, call_of(allreduce, 4, 65536)), "rabenseifner");
}

TEST(growing, over_mpi_beats_the_native_collective_or_chooses_it) {
  // A tree in which two ranks already exchange small vectors by a schedule.
  document mpi =
      overlay(builtin_document("common"), read_tree(R"({"schema": "tutti/tree/1", "pure": {"allreduce": [
                           {"when": {"native": true}, "by": "ranks", "steps": [
                             {"upto": 1, "use": "native"},
                             {"upto": 2, "by": "bytes", "steps": [
                               {"upto": 1024, "use": "recursive_doubling"}, {"use": "native"}]},
                             {"use": "native"}]}]}})",
                                                    "mpi.json")
                                              .made);
  document more;
  more.conditions.push_back({"open_mpi", "the engine uses Open MPI"});
  mpi = overlay(mpi, more);
  rules r;
  r.beat_native = true;
  r.always.demand(*find_condition("open_mpi", mpi.conditions), true);
  std::vector<cell> cells = {
      measured(allreduce, 2, 8, {{"native", 1}, {"recursive_doubling", 1}, {"ring", 3}}),
      measured(allreduce, 2, 64, {{"native", 1}, {"recursive_doubling", 0.8}, {"ring", 3}})};
  for (cell& c : cells) c.context.shared_memory = false, c.context.engine = 1;
  const grown g = grown_from(mpi, cells, r);
  ASSERT_EQ(g.changes.size(), 1u);
  EXPECT_EQ(label(g.changes[0].after), "native");
  EXPECT_EQ(decided(mpi, g.made, cells[0].context), "native");
  EXPECT_EQ(decided(mpi, g.made, cells[1].context), "recursive_doubling");
  cells[0].context.engine = 0;  // another MPI
  EXPECT_EQ(decided(mpi, g.made, cells[0].context), "recursive_doubling");
}

TEST(growing, chooses_for_all_sizes_of_a_vector_form_at_once) {
  const auto cells = [](double large) {
    return std::vector<cell>{measured(gatherv, 4, 8, {{"native", 1}, {"linear", 0.5}}),
                             measured(gatherv, 4, 65536, {{"native", 10}, {"linear", large}})};
  };
  const selection_context s = call_of(gatherv, 4, 8);
  EXPECT_EQ(decided(threads(), grown_from(threads(), cells(10.1)).made, s), "linear");
  EXPECT_EQ(decided(threads(), grown_from(threads(), cells(15)).made, s), "native");
}

TEST(growing, compositions_beside_pure_algorithms) {
  cell c = measured(allreduce, 4, 1024, {{"native", 10}, {"ring", 9}});
  c.composed = {{composition(allreduce, "@pure"), 9, 0.01},
                {composition(allreduce, "reduce_bcast"), 5, 0.01}};
  const document common = builtin_document("common");
  const grown g = grown_from(common, {c});
  EXPECT_EQ(decided(common, g.made, c.context, tree_half::composition), "reduce_bcast");
  EXPECT_EQ(decided(common, g.made, call_of(allreduce, 4, 1 << 20), tree_half::composition), "@pure");
  EXPECT_EQ(decided(common, g.made, c.context), "ring");
  c.composed[1].us = 8.9;
  EXPECT_EQ(decided(common, grown_from(common, {c}).made, c.context, tree_half::composition), "@pure");
}

TEST(growing, on_what_was_grown_before) {
  const document first =
      grown_from(threads(), {measured(alltoall, 2, 1024, {{"native", 1}, {"pairwise", 0.5}})}).made;
  const document base = overlay(threads(), first);
  const grown g = grown_from(base, {measured(alltoall, 4, 1024, {{"native", 1}, {"bruck", 0.5}})});
  EXPECT_EQ(decided(base, g.made, call_of(alltoall, 2, 1024)), "pairwise");
  EXPECT_EQ(decided(base, g.made, call_of(alltoall, 4, 1024)), "bruck");
  EXPECT_EQ(decided(base, g.made, call_of(alltoall, 8, 1024)), "native");
}

// 4 ranks are a power of two and 6 are not, but without a native collective the same region of the
// base decides both. Two regions for them would hide one another.
TEST(growing, makes_one_region_for_the_calls_of_a_region) {
  const read_result got = read_tree(R"({"schema": "tutti/tree/1", "pure": {"allgather": [
    {"when": {"native": true, "power_of_two": true}, "use": "ring"}, {"when": {"native": true}, "use": "native"}]}})",
                                    "test");
  ASSERT_TRUE(got.good());
  const document base = overlay(builtin_document("common"), got.made);
  std::vector<cell> cells;
  for (const int ranks : {4, 6}) {
    cell c = measured(allgather, ranks, 1024, {{"ring", 0.5}, {"bruck", 1}, {"linear", 2}});
    c.context = call_of(allgather, ranks, 1024, false);
    cells.push_back(std::move(c));
  }
  const grown g = grown_from(base, cells);
  EXPECT_EQ(g.made.pure[static_cast<std::size_t>(allgather)].size(), 1u) << write_tree(g.made);
  for (const cell& c : cells) EXPECT_EQ(decided(base, g.made, c.context), "ring");
}

// For any measurements the document is legal, serves every call, and never chooses what a call does
// not permit. Where it differs from the base, its choice was faster.
TEST(growing, is_legal_and_no_worse_whatever_was_measured) {
  std::mt19937 random(static_cast<unsigned>(tests::seed_or(1)));
  const document fibers = builtin_document("fibers"), mpi = builtin_document("mpi");
  for (int round = 0; round < 150; ++round) {
    const document& base = round % 3 == 0 ? threads() : round % 3 == 1 ? fibers : mpi;
    rules r;
    r.beat_native = round % 3 == 2;
    std::vector<cell> cells;
    for (std::size_t i = 0; i < collective_names.size(); ++i) {
      const auto what = static_cast<collective>(i);
      for (const int ranks : {2, 3, 4, 6, 8}) {
        if (random() % 3 == 0) continue;
        for (const std::size_t size : {8, 512, 32768, 1 << 20}) {
          if (what == barrier && size != 8) continue;  // it has no size
          cell c{call_of(what, ranks, what == barrier ? 0 : size, random() % 8 != 0), size, {}, {}};
          c.context.shared_memory = &base != &mpi;
          for (const candidate& one : pure_candidates(c.context, 16, random() % 2 == 0, {}))
            if (random() % 3 != 0)
              c.pure.push_back({one.use, 1 + static_cast<double>(random() % 1000) / 100, random() % 2 * 0.1});
          cells.push_back(std::move(c));
        }
      }
    }
    const grown g = grow(base, cells, r);
    ASSERT_EQ(faults_of(base, g.made), "") << write_tree(g.made);
    const document both = overlay(base, g.made);
    for (const cell& c : cells) {
      const leaf &before = decide(base, c.context), &after = decide(both, c.context);
      ASSERT_TRUE(permits(after, c.context)) << label(after);
      if (same(before, after) || is_vector_form(c.context.call.what)) continue;
      const leaf& beaten =
          r.beat_native && c.context.native && after.what != leaf::kind::native ? leaf::native() : before;
      for (const timing& a : c.pure)
        for (const timing& b : c.pure) {
          if (!same(a.use, after) || !same(b.use, beaten) || (r.beat_native && same(after, leaf::native())))
            continue;
          ASSERT_TRUE(beats(a, b, r)) << label(after) << " for " << label(beaten);
        }
    }
  }
}

TEST(nodes, cut_to_a_part_of_the_calls) {
  const read_result got = read_tree(
      R"({"schema": "tutti/tree/1", "pure": {"bcast": [{"when": {"inter": false}, "by": "ranks", "steps": [
        {"upto": 2, "by": "bytes", "steps": [{"upto": 64, "use": "knomial"}, {"use": "linear"}]},
        {"use": "linear"}]}]}})",
      "here");
  ASSERT_TRUE(got.good()) << got.faults[0].text();
  const tree_node& n = got.made.pure[static_cast<std::size_t>(bcast)][0].then;
  intervals within;
  within[static_cast<std::size_t>(quantity::ranks)] = {3, 9};
  EXPECT_TRUE(same(restricted(n, within), tree_node{algorithm(bcast, "linear"), quantity::bytes, {}}));
  within[static_cast<std::size_t>(quantity::ranks)] = {1, 2};
  EXPECT_EQ(restricted(n, within).by, quantity::bytes);
  within[static_cast<std::size_t>(quantity::bytes)] = {65, 100};
  EXPECT_TRUE(restricted(n, within).is_leaf());
  EXPECT_TRUE(same(restricted(n, {}), n));
}

TEST(candidates, are_what_the_call_permits) {
  const auto names = [](const selection_context& s, bool parameters) {
    std::vector<std::string> all;
    for (const candidate& c : pure_candidates(s, s.call.count, parameters, {})) all.push_back(c.name);
    return all;
  };
  const auto has = [](const std::vector<std::string>& all, std::string_view name) {
    return std::find(all.begin(), all.end(), name) != all.end();
  };
  EXPECT_TRUE(has(names(call_of(allgather, 4, 64), false), "recursive_doubling"));
  EXPECT_FALSE(has(names(call_of(allgather, 6, 64), false), "recursive_doubling"));
  EXPECT_FALSE(has(names(call_of(allgather, 6, 64, false), false), "native"));
  EXPECT_TRUE(has(names(call_of(allgather, 6, 64), false), "neighbor_exchange"));
  EXPECT_FALSE(has(names(call_of(allgather, 5, 64), false), "neighbor_exchange"));
  EXPECT_FALSE(has(names(call_of(bcast, 8, 1 << 20), false), "chain:segment=262144"));
  EXPECT_TRUE(has(names(call_of(bcast, 8, 1 << 20), true), "chain:segment=262144"));
  EXPECT_FALSE(has(names(call_of(bcast, 8, 8), true), "chain:segment=262144"));
  for (const std::string& name : names(call_of(bcast, 8, 1 << 20), true)) {
    if (name == "native") continue;
    EXPECT_NE(read_choice(bcast, name).pure, nullptr) << name;
  }
}

TEST(model, is_fitted_and_leaves_out_what_is_hopeless) {
  const auto claim = [](std::string_view name, int ranks, std::size_t bytes) {
    return claims_of(read_choice(allgather, name), call_of(allgather, ranks, bytes).call, bytes / 8);
  };
  const claims ring = claim("ring", 8, 1024);
  EXPECT_EQ(ring.rounds, 7);
  EXPECT_EQ(ring.bytes, 7 * 1024);
  const speed real{2, 0.001};
  const speed v = fit(claim("ring", 8, 8), predicted(claim("ring", 8, 8), real), ring, predicted(ring, real));
  EXPECT_NEAR(v.alpha, 2, 1e-9);
  EXPECT_NEAR(v.beta, 0.001, 1e-9);
  const speed nonsense = fit(ring, 1, ring, 5);
  EXPECT_GT(nonsense.alpha, 0);
  EXPECT_GT(fit(claim("ring", 8, 8), 100, ring, 1).beta, 0);  // the large one was faster

  const selection_context s = call_of(bcast, 64, 8);
  auto all = pure_candidates(s, 1, false, real);
  const auto there = [&](std::string_view name) {
    return std::any_of(all.begin(), all.end(), [&](const candidate& c) { return c.name == name; });
  };
  ASSERT_TRUE(there("linear"));  // 63 rounds, where 6 suffice
  prune(all, 4, algorithm(bcast, "chain"));
  EXPECT_FALSE(there("linear"));
  EXPECT_TRUE(there("knomial"));
  EXPECT_TRUE(there("native"));
  EXPECT_TRUE(there("chain"));
}

TEST(guidelines, that_do_not_hold_are_named) {
  std::vector<figure> all = {{allreduce, 1024, 10, 0.01},
                             {reduce, 1024, 4, 0.01},
                             {bcast, 1024, 4, 0.01},
                             {gather, 1024, 3, 0.01},
                             {allgather, 1024, 5, 0.01}};
  std::vector<violation> found = violated(all, 0.03);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "allreduce(n) <= reduce(n) + bcast(n)");
  EXPECT_EQ(found[0].bytes, 1024u);
  EXPECT_DOUBLE_EQ(found[0].ratio(), 1.25);
  all[0].spread = 0.5;
  EXPECT_TRUE(violated(all, 0.03).empty());
  all = {{gather, 1024, 6, 0.01}, {allgather, 1024, 5, 0.01}};
  found = violated(all, 0.03);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "gather(n) <= allgather(n)");
  all = {{bcast, 8, 2, 0}, {bcast, 64, 1, 0}, {bcast, 512, 3, 0}};
  found = violated(all, 0.03);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "bcast(n) <= bcast(64)");
  EXPECT_EQ(found[0].bytes, 8u);
  all = {{barrier, 0, 2, 0}, {allreduce, 8, 1, 0}};
  ASSERT_EQ(violated(all, 0.03).size(), 1u);
  for (const std::string& rule : guidelines()) EXPECT_NE(rule.find(" <= "), rule.npos);
}

}  // namespace
}  // namespace tutti::tuning

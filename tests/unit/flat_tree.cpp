// SPDX-License-Identifier: Apache-2.0
//
// Tests that flat trees make the same choices as the trees they are made of, for every count near a
// bound and random ones.
#include "selection/flat_tree.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "support/seed.hpp"
#include "support/selection_contexts.hpp"

namespace tutti::detail {
namespace {

std::vector<std::uint64_t> counts_to_try(const flat_tree& flat, const std::vector<std::uint64_t>& bounds,
                                         std::mt19937& random) {
  std::vector<std::uint64_t> counts = {0, 1, 2, tree_step::open - 1, tree_step::open};
  const auto around = [&](std::uint64_t bound) {
    for (const std::uint64_t c : {bound - 1, bound, bound + 1}) counts.push_back(c);
  };
  for (const flat_step& step : flat.steps()) around(step.upper_bound_of_count);
  for (const std::uint64_t b : bounds) around(b);
  for (int i = 0; i < 12; ++i) counts.push_back(random() >> random() % 32);
  return counts;
}

// The thresholds of a tree as counts of elements of this size, which a flat tree might omit.
void thresholds_of(const tree_node& n, const selection_context& s, std::vector<std::uint64_t>& counts) {
  for (const tree_step& step : n.steps) {
    const std::uint64_t size = std::max<std::size_t>(s.call.element_size, 1);
    for (const std::uint64_t upper_bound :
         {step.upper_bound, step.upper_bound / size,
          step.upper_bound / size / static_cast<std::uint64_t>(s.call.ranks)})
      counts.push_back(upper_bound);
    thresholds_of(step.then, s, counts);
  }
}

std::size_t differences(const document& d, selection_context s, tree_half half,
                        const flat_tree::native_rule& native, const std::vector<std::uint64_t>& native_bounds,
                        std::mt19937& random) {
  const flat_tree flat(d, s, half, native, native_bounds);
  std::vector<std::uint64_t> bounds = native_bounds;
  for (const tree_region& r : d.of(half)[static_cast<std::size_t>(s.call.what)])
    thresholds_of(r.then, s, bounds);
  std::size_t wrong = 0;
  EXPECT_FALSE(flat.empty());
  EXPECT_EQ(flat.steps().back().upper_bound_of_count, tree_step::open);
  for (std::size_t i = 1; i < flat.steps().size(); ++i) {
    wrong += flat.steps()[i - 1].upper_bound_of_count >= flat.steps()[i].upper_bound_of_count;
    wrong += flat.steps()[i - 1].chosen == flat.steps()[i].chosen;
  }
  for (const std::uint64_t count : counts_to_try(flat, bounds, random)) {
    if (!is_vector_form(s.call.what)) s.call.count = count;
    if (native) s.offer(native(s.call.count));
    wrong += &flat.at(s.call.count) != &decide(d, s, half);
  }
  return wrong;
}

document read(const std::string& text) {
  read_result r = read_tree(text, "test");
  EXPECT_TRUE(r.good()) << (r.faults.empty() ? "" : r.faults.front().text());
  return std::move(r.made);
}

// Every quantity, nested in any order, and the condition on the count.
document tangled() {
  return overlay(builtin_document("common"),
                 read(R"({"schema": "tutti/tree/1", "conditions": {"one": "a", "two": "b"},
 "composition": {"allreduce": [
   {"when": {"inter": false, "one": true}, "by": "count", "steps": [{"upto": 100, "use": "@pure"}, {"use": "reduce_bcast"}]},
   {"when": {"inter": false, "hierarchical": true}, "by": "bytes", "steps": [{"upto": 4097, "use": "reduce_bcast"}, {"use": "@pure"}]}]},
 "pure": {
  "allreduce": [
   {"when": {"count_ge_ranks": true, "commutative": true, "inter": false, "one": true}, "by": "total_bytes", "steps": [
     {"upto": 7, "use": "ring"},
     {"upto": 1000, "by": "ranks", "steps": [{"upto": 4, "use": "ring"}, {"by": "count", "steps": [
       {"upto": 9, "use": "recursive_doubling"}, {"upto": 33, "use": "ring"}, {"use": "recursive_doubling"}]}]},
     {"upto": "1M", "by": "bytes", "steps": [{"upto": 65537, "use": "ring"}, {"use": "recursive_doubling"}]},
     {"use": "ring"}]}],
  "allgather": [
   {"when": {"inter": false, "two": false}, "by": "total_bytes", "steps": [
     {"upto": 1, "use": "ring"}, {"upto": 2, "use": "bruck"}, {"upto": 3, "use": "ring"}, {"upto": 5, "use": "bruck"},
     {"upto": 8, "use": "ring"}, {"upto": 13, "use": "bruck"}, {"upto": 21, "use": "ring"}, {"upto": 34, "use": "bruck"},
     {"upto": 55, "use": "ring"}, {"upto": 89, "use": "bruck"}, {"upto": 144, "use": "ring"}, {"upto": 233, "use": "bruck"},
     {"upto": 4611686018427387904, "by": "nodes", "steps": [{"upto": 1, "use": "ring"}, {"use": "bruck"}]},
     {"use": "ring"}]}]}})"));
}

TEST(flat_trees, choose_what_their_trees_choose) {
  std::mt19937 random(static_cast<unsigned>(tests::seed_or(7)));
  std::vector<document> trees;
  for (const std::string_view name : builtin_tree_names()) trees.push_back(builtin_document(name));
  trees.push_back(tangled());
  std::size_t wrong = 0, tried = 0;
  for (const document& d : trees)
    for (std::size_t c = 0; c < collective_names.size(); ++c)
      for (int ranks = 1; ranks <= 17; ++ranks)
        for (const std::size_t size : {1, 4, 8, 24})
          for (int i = 0; i < 6; ++i) {
            const auto bits = static_cast<unsigned>(random());
            const selection_context s =
                varied(make_selection_context(static_cast<collective>(c), ranks, bits >> 8 & 1023, size,
                                              (bits & 1) != 0, bits & 2 ? builtin_op::sum : builtin_op::user,
                                              (bits & 4) != 0, (bits & 24) == 24, (bits & 32) != 0,
                                              (bits & 64) != 0),
                       static_cast<unsigned>(random()));
            std::vector<std::uint64_t> bounds;
            flat_tree::native_rule native;
            if (bits & 128) {  // an engine whose own collective serves only some lengths
              bounds = {bits >> 20, 4096};
              std::sort(bounds.begin(), bounds.end());
              const native_offer there = bits & 256 ? native_offer::by_name : native_offer::any;
              native = [bounds, there](std::uint64_t count) {
                return count > bounds[0] && count <= bounds[1] ? there : native_offer::none;
              };
            }
            for (const tree_half half : {tree_half::composition, tree_half::pure}) {
              wrong += differences(d, s, half, native, bounds, random);
              ++tried;
            }
          }
  EXPECT_EQ(wrong, 0u);
  EXPECT_EQ(tried, trees.size() * collective_names.size() * 17 * 4 * 6 * 2);
}

TEST(flat_trees, are_short_and_exact_at_their_bounds) {
  const document d = tangled();
  selection_context s =
      make_selection_context(collective::allgather, 3, 0, 8, false, {}, true, false, false, true);
  const flat_tree flat(d, s);
  // 24 bytes per element in all: thresholds below that coincide.
  std::vector<std::uint64_t> bounds;
  for (const flat_step& step : flat.steps()) bounds.push_back(step.upper_bound_of_count);
  EXPECT_EQ(bounds,
            (std::vector<std::uint64_t>{0, 1, 2, 3, 6, 9, (std::uint64_t{1} << 62) / 24, tree_step::open}));
  EXPECT_EQ(name_of(flat.at(6)), "ring");
  EXPECT_EQ(name_of(flat.at(7)), "bruck");
  s.call.element_size = 0;
  EXPECT_EQ(flat_tree(d, s).steps().size(), 1u);
  s = make_selection_context(collective::allgatherv, 3, 0, 8, false, {}, true, false, true, true);
  EXPECT_EQ(flat_tree(d, s).steps().size(), 1u);
}

TEST(flat_trees, that_forget_a_bound_of_the_native_collective_are_found) {
  const document d = builtin_document("common");
  const selection_context s =
      make_selection_context(collective::gather, 4, 0, 8, false, {}, true, false, true, true);
  const auto native = [](std::uint64_t count) {
    return count <= 10 ? native_offer::any : native_offer::none;
  };
  std::mt19937 random(static_cast<unsigned>(tests::seed_or(1)));
  EXPECT_EQ(differences(d, s, tree_half::pure, native, {10}, random), 0u);
  const flat_tree forgetful(d, s, tree_half::pure, native, {});
  selection_context ten = s;
  ten.call.count = 10;
  EXPECT_NE(&forgetful.at(10), &decide(d, ten));
}

}  // namespace
}  // namespace tutti::detail

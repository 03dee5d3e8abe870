// SPDX-License-Identifier: Apache-2.0
//
// Tests the comparison of two trees. A call is in one of the differences if and only if the trees
// choose differently for it. The choices are those of the difference.

#include "selection/tree_difference.hpp"

#include <gtest/gtest.h>

#include "support/selection_contexts.hpp"
#include "support/tree_texts.hpp"

namespace tutti::detail {
namespace {

bool within(const difference& d, tree_half half, const selection_context& s) {
  const condition_bits truth = conditions_of(s);
  if (d.half != half || d.what != s.call.what || !d.when.hold(truth)) return false;
  for (const literals& one : d.except)
    if (one.hold(truth)) return false;
  for (const quantity_entry& q : quantities()) {
    const value_range r = d.within[static_cast<std::size_t>(q.which)];
    if (q.value(s) < r.min || q.value(s) > r.max) return false;
  }
  return true;
}

struct tally {
  std::size_t equal = 0, different = 0, wrong = 0;
};

tally check(const document& a, const document& second) {
  document b = second;
  declare(b, a.conditions);
  const comparison all = compare(a, second);
  EXPECT_EQ(all.conditions, b.conditions);
  tally t;
  unsigned turn = 0;
  for_each_selection_context([&](const selection_context& one) {
    if (++turn % 23 != 0) return;
    const selection_context s = varied(one, turn * 37);
    if (s.nodes > s.call.ranks || (s.call.what == collective::barrier && s.call.count != 0)) return;
    for (const tree_half half : {tree_half::composition, tree_half::pure}) {
      const leaf &first = decide(a, s, half), &other = decide(b, s, half);
      const difference* found = nullptr;
      for (const difference& d : all.differences)
        if (within(d, half, s)) {
          t.wrong += found != nullptr;  // a call is in at most one difference
          found = &d;
        }
      const bool same = first.same_choice(other);
      t.wrong += (found == nullptr) != same;
      if (found != nullptr) t.wrong += !found->first.same_choice(first) || !found->second.same_choice(other);
      ++(same ? t.equal : t.different);
    }
  });
  return t;
}

TEST(differences, are_where_the_trees_decide_differently) {
  std::vector<document> trees = {builtin_document("threads"), builtin_document("mpi"),
                                 builtin_document("common")};
  for (const char* text : {R"("conditions": {"x": "", "y": ""}, "pure": {
     "allreduce": [
       {"when": {"y": true, "inter": false, "in_place": true}, "use": "recursive_doubling"},
       {"when": {"commutative": true, "x": false, "inter": false}, "by": "ranks", "steps": [
         {"upto": 4, "by": "bytes", "steps": [{"upto": 48, "use": "ring"}, {"upto": 513, "use": "recursive_doubling"}, {"use": "ring"}]},
         {"use": "recursive_multiplying", "with": {"k": 3}}]}],
     "bcast": [{"when": {"native": false, "inter": false, "equal_nodes": true}, "by": "nodes", "steps": [
       {"upto": 1, "use": "linear"}, {"use": "chain"}]}]})",
                           R"("conditions": {"y": "", "x": ""}, "composition": {
     "allreduce": [{"when": {"y": false, "inter": false}, "by": "total_bytes", "steps": [
       {"upto": 100, "use": "@pure"}, {"use": "reduce_bcast"}]}]},
   "pure": {
     "allreduce": [{"when": {"commutative": true, "inter": false, "power_of_two": true}, "by": "bytes", "steps": [
         {"upto": 64, "by": "ranks", "steps": [{"upto": 2, "use": "ring"}, {"use": "recursive_doubling"}]},
         {"use": "recursive_multiplying"}]}],
     "bcast": [{"when": {"node_consecutive": false, "inter": false}, "by": "count", "steps": [
       {"upto": 7, "use": "knomial", "with": {"k": 4}}, {"use": "linear"}]}]})"}) {
    const read_result r =
        read_text(std::string(R"({"schema": "tutti/tree/1", "extends": "threads", )") + text + "}");
    ASSERT_TRUE(r.good()) << all_faults(r);
    trees.push_back(r.made);
  }
  for (const document& a : trees)
    for (const document& b : trees) {
      const tally t = check(a, b);
      EXPECT_EQ(t.wrong, 0u);
      EXPECT_GT(t.equal, 10000u);
      EXPECT_EQ(t.different > 0, &a != &b);
    }
}

TEST(differences, are_few_and_minimal) {
  const document threads = overlay(builtin_document("common"), read_pure(R"({"scan": [
     {"when": {"native": true}, "by": "bytes", "steps": [
       {"upto": 0, "use": "native"}, {"upto": 1024, "use": "recursive_doubling"}, {"use": "native"}]}]})")
                                                                   .made);
  const read_result over = read_pure(R"({"scan": [{"when": {"native": true}, "by": "bytes", "steps": [
     {"upto": 10, "use": "native"}, {"upto": 20, "use": "linear"}, {"upto": 30, "use": "linear"}, {"use": "native"}]}]})");
  ASSERT_TRUE(over.good()) << all_faults(over);
  const comparison all = compare(threads, overlay(threads, over.made));
  ASSERT_EQ(all.differences.size(), 3u);
  for (const difference& d : all.differences) {
    EXPECT_EQ(to_string(d.when), "native = true");
    EXPECT_TRUE(d.except.empty());
  }
  EXPECT_EQ(all.differences[1].within[0], (value_range{11, 30}));
}

}  // namespace
}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// Tests documents beyond names and thresholds: templates, conditions of engines, compositions, and
// the meaning of restrictions.
#include <stdexcept>

#include <gtest/gtest.h>

#include "selection/tree.hpp"
#include "support/selection_contexts.hpp"
#include "support/tree_texts.hpp"

namespace tutti::detail {
namespace {

// The texts that "extends" finds in place of the built-in ones.
std::string_view templates_in_a_circle(std::string_view name) noexcept {
  if (name == "common")
    return R"({"schema": "tutti/tree/1", "extends": "mpi", "pure": {"scan": [{"use": "linear"}]}})";
  if (name == "mpi")
    return R"({"schema": "tutti/tree/1",
 "extends": "common"})";
  if (name == "threads") return R"({"schema": "tutti/tree/1", "extends": "threads"})";
  if (name == "fibers")
    return R"({"schema": "tutti/tree/1",
 "pure": {"bcast": [{"use": "knomal"}]}})";
  return {};
}

TEST(templates, that_are_cyclic_or_invalid_are_reported) {
  const auto faults = [](const std::string& name) {
    return all_faults(read_tree("{\"schema\": \"tutti/tree/1\", \"extends\": \"" + name + "\"}", "test",
                                extent::partial, false, templates_in_a_circle));
  };
  EXPECT_EQ(faults("threads"),
            "test:1: /extends: the template \"threads\" is invalid (trees/threads.json:1: /extends: "
            "templates form a cycle: \"threads\" extends \"threads\" (extend another, or none))\n");
  EXPECT_NE(faults("common").find("templates form a cycle: \"common\" extends \"mpi\" extends \"common\""),
            std::string::npos)
      << faults("common");
  EXPECT_NE(faults("fibers").find("trees/fibers.json:2: /pure/bcast/0/use: bcast has no algorithm"),
            std::string::npos)
      << faults("fibers");
}

TEST(templates, are_overlaid_by_what_extends_them) {
  const read_result r = read_text(R"({"schema": "tutti/tree/1", "extends": "threads", "pure": {
   "allreduce": [{"when": {"inter": false, "commutative": true}, "use": "ring"}]}})",
                                  extent::whole);
  ASSERT_TRUE(r.good()) << all_faults(r);
  const document threads = builtin_document("threads");
  std::size_t own = 0, wrong = 0;
  for_each_selection_context([&](const selection_context& s) {
    const leaf& got = decide(r.made, s);
    if (got.from.file->name == "test")
      ++own;
    else
      wrong += !got.same_choice(decide(threads, s)) || got.from.file->name == "test";
    wrong += (got.from.file->name == "test") !=
             (s.call.what == collective::allreduce && !s.call.inter && s.call.commutative);
  });
  EXPECT_GT(own, 1000u);
  EXPECT_EQ(wrong, 0u);
  EXPECT_TRUE(read_text(R"({"schema": "tutti/tree/1", "extends": "mpi"})", extent::whole).good());
}

struct registered {
  std::string_view name;
  bool holds;
};

TEST(declared_conditions, follow_the_engine_by_their_names) {
  const read_result a = read_text(R"({"schema": "tutti/tree/1",
 "conditions": {"open_mpi": "Open MPI", "oversubscribed": "more ranks than cores"},
 "pure": {"bcast": [{"when": {"inter": false, "oversubscribed": true}, "use": "linear"}]}})");
  const read_result b = read_text(R"({"schema": "tutti/tree/1",
 "conditions": {"mpich": "MPICH", "oversubscribed": "too many ranks"},
 "pure": {"bcast": [{"when": {"inter": false, "mpich": true, "oversubscribed": true}, "use": "chain"}]}})");
  ASSERT_TRUE(a.good() && b.good()) << all_faults(a) << all_faults(b);
  const document both = overlay(overlay(builtin_document("common"), a.made), b.made);
  std::vector<std::string> names;
  for (const declared_condition& c : both.conditions) names.push_back(c.name);
  EXPECT_EQ(names, (std::vector<std::string>{"open_mpi", "oversubscribed", "mpich"}));
  selection_context s =
      make_selection_context(collective::bcast, 4, 8, 8, false, {}, true, false, false, false);
  const auto chosen = [&](std::vector<registered> engine) {
    s.engine = engine_bits(both, engine);
    return std::string(name_of(decide(both, s)));
  };
  EXPECT_EQ(chosen({}), "knomial");
  EXPECT_EQ(chosen({{"mpich", true}}), "knomial");
  EXPECT_EQ(chosen({{"mpich", true}, {"oversubscribed", false}}), "knomial");
  EXPECT_EQ(chosen({{"mpich", false}, {"oversubscribed", true}}), "linear");
  EXPECT_EQ(chosen({{"oversubscribed", true}, {"open_mpi", true}}), "linear");
  EXPECT_EQ(chosen({{"oversubscribed", true}, {"moon", true}, {"mpich", true}}), "chain");
  EXPECT_EQ(explain(both, s).path[0].text, "when inter = false, oversubscribed = true, mpich = true");
  EXPECT_EQ(unregistered(both, std::vector<registered>{{"mpich", false}}),
            (std::vector<std::string>{"open_mpi", "oversubscribed"}));
  const read_result again = read_text(write_tree(both), extent::whole);
  ASSERT_TRUE(again.good()) << all_faults(again);
  EXPECT_EQ(again.made.conditions, both.conditions);
  EXPECT_EQ(write_tree(again.made), write_tree(both));
}

TEST(declared_conditions, of_a_template_need_not_be_declared_again) {
  const auto source = [](std::string_view name) noexcept -> std::string_view {
    return name == "mpi" ? R"({"schema": "tutti/tree/1", "conditions": {"open_mpi": "Open MPI"}, "pure": {}})"
                         : std::string_view();
  };
  const read_result r = read_tree(R"({"schema": "tutti/tree/1", "extends": "mpi",
 "conditions": {"mpich": "MPICH"},
 "pure": {"bcast": [{"when": {"inter": false, "open_mpi": true, "mpich": false}, "use": "linear"}]}})",
                                  "test", extent::partial, false, source);
  ASSERT_TRUE(r.good()) << all_faults(r);
  EXPECT_EQ(to_string(r.made.pure[static_cast<std::size_t>(collective::bcast)][0].when, r.made.conditions),
            "inter = false, open_mpi = true, mpich = false");
}

TEST(declared_conditions, are_rejected_if_there_are_too_many) {
  document all;
  for (int i = 0; i < 30; ++i) all.conditions.push_back({"a" + std::to_string(i), ""});
  document more;
  for (int i = 0; i < 3; ++i) more.conditions.push_back({"b" + std::to_string(i), ""});
  EXPECT_THROW((void)overlay(all, more), std::length_error);
  more.conditions.pop_back();
  EXPECT_EQ(overlay(all, more).conditions.size(), 32u);
}

TEST(compositions, are_chosen_and_explained) {
  const read_result over = read_text(R"({"schema": "tutti/tree/1", "composition": {"allreduce": [
 {"when": {"inter": false, "commutative": true}, "by": "bytes", "steps": [
  {"upto": 64, "use": "auto"},
  {"upto": 128, "use": "null"},
  {"use": "reduce_bcast"}]}]}})");
  ASSERT_TRUE(over.good()) << all_faults(over);
  const document d = overlay(builtin_document("threads"), over.made);
  selection_context s =
      make_selection_context(collective::allreduce, 6, 8, 8, false, builtin_op::sum, true, false, true, true);
  EXPECT_EQ(decide(d, s, tree_half::composition).what, leaf::kind::pure);
  EXPECT_EQ(explain(d, s, tree_half::composition).path.back().text, "by bytes = 64: upto 64");
  s.call.count = 17;
  const explanation e = explain(d, s, tree_half::composition);
  EXPECT_EQ(e.algorithm, "allreduce/reduce_bcast");
  EXPECT_EQ(e.chosen.composed.which, find_composition(collective::allreduce, "reduce_bcast"));
  EXPECT_EQ(e.source, "file");
  EXPECT_EQ(e.path.back().from.line, 5);
  std::size_t fallbacks = 0;
  for (const auto& r : e.rejected) {
    EXPECT_NE(r.algorithm, e.algorithm);
    EXPECT_FALSE(r.reason.empty());
    fallbacks += r.algorithm == "@pure";
  }
  EXPECT_EQ(fallbacks, 1u);
  s.call.commutative = false;
  s.call.op = builtin_op::user;
  EXPECT_EQ(explain(d, s, tree_half::composition).source, "default");
  // The active trees differ in their text, and so in their hash.
  EXPECT_NE(write_tree(d), write_tree(builtin_document("threads")));
  EXPECT_NE(write_tree(d).find("\"use\": \"reduce_bcast\""), std::string::npos);
}

TEST(compositions, are_reported_for_every_collective) {
  const document d = builtin_document("common");
  for (std::size_t c = 0; c < collective_names.size(); ++c) EXPECT_FALSE(d.composition[c].empty());
}

// A permitted choice has no reason against it, and the reverse. The proof uses the same function.
TEST(demands, are_one_for_the_proof_and_for_the_call) {
  std::size_t wrong = 0, refused = 0, permitted = 0;
  unsigned turn = 0;
  const auto try_entry = [&](const catalogue_entry& entry, const algorithm_parameter_values& parameter_values,
                             const selection_context& s) {
    if (entry.what != s.call.what) return;
    const bool fine = meets_demands(entry, parameter_values, s);
    wrong += fine != unmet_demands(entry, parameter_values, s).empty();
    const demand d = demands_of(entry, parameter_values);
    if (d.beyond.empty()) wrong += fine != d.conditions.hold(conditions_of(s));
    ++(fine ? permitted : refused);
  };
  for_each_selection_context([&](const selection_context& one) {
    if (++turn % 7 != 0) return;
    const selection_context s = varied(one, turn * 37);
    for (const pure_algorithm* a : catalogue()) try_entry(*a, a->default_values(), s);
    for (const composed_algorithm* a : composition_catalogue()) try_entry(*a, a->default_values(), s);
  });
  EXPECT_EQ(wrong, 0u);
  EXPECT_GT(permitted, 10000u);
  EXPECT_GT(refused, 10000u);
  // Every restriction has its condition and its description.
  selection_context s =
      make_selection_context(collective::allreduce, 6, 1, 8, true, {}, false, false, false, false);
  s = varied(s, 2);
  s.whole_job = false;
  for (const restriction_name& r : restriction_names) {
    if (r.which == restriction::host_memory) continue;  // all memory is host memory
    catalogue_entry entry;
    entry.what = collective::allreduce;
    entry.restrictions = r.which;
    algorithm_parameter_values parameter_values{};
    parameter_values[static_cast<std::size_t>(algorithm_parameter::region)] = 4;
    selection_context against = s;
    if (r.which == restriction::in_place) against.call.in_place = false;
    if (r.which == restriction::even_ranks) against.call.ranks = 7;
    if (r.which == restriction::hierarchical) against.nodes = 1;
    EXPECT_FALSE(meets_demands(entry, parameter_values, against)) << r.name;
    EXPECT_FALSE(unmet_demands(entry, parameter_values, against).empty()) << r.name;
  }
}

}  // namespace
}  // namespace tutti::detail

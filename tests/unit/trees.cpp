// SPDX-License-Identifier: Apache-2.0
//
// Tests decision trees: wrong ones give the expected errors, and right ones serve every call
// legally. The built-in trees make the same choices as the fallback in code.
#include <algorithm>
#include <filesystem>
#include <random>

#include <gtest/gtest.h>

#include "base/environment_variables.hpp"
#include "selection/suggestion.hpp"
#include "selection/tree.hpp"
#include "selection/truth_set.hpp"
#include "support/scratch_folder.hpp"
#include "support/seed.hpp"
#include "support/selection_contexts.hpp"
#include "support/tree_cases.hpp"
#include "support/tree_texts.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

using tests::contents;

std::vector<fs::path> files_of(const std::string& folder, const char* extension = ".json") {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(fs::path(TREES_OF_TESTS) / folder))
    if (entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

extent extent_of(const fs::path& file) {
  return file.filename().string().starts_with("whole_") ? extent::whole : extent::partial;
}

TEST(wrong_trees, are_reported_with_each_of_their_faults) {
  std::size_t cases = 0;
  for (const fs::path& file : files_of("wrong", ".cases"))
    for (const tests::tree_case& one : tests::tree_cases(contents(file))) {
      ++cases;
      const std::string name = one.name + ".json";
      const read_result r = read_tree(one.text, name, extent_of(name));
      EXPECT_FALSE(r.good()) << name;
      std::string expected = one.faults, got = all_faults(r);
      if (expected.ends_with("...\n")) {  // the parser's message depends on its version
        expected.resize(expected.size() - 4);
        got.resize(std::min(got.size(), expected.size()));
      }
      EXPECT_EQ(got, expected) << file << ' ' << name;
    }
  EXPECT_GE(cases, 158u);
}

TEST(wrong_trees, are_rejected_wherever_they_are_truncated) {
  const std::string text(builtin_tree("threads"));
  const std::size_t end = text.rfind('}');
  for (std::size_t n = 0; n <= end; ++n) {
    const read_result r = read_text(std::string_view(text).substr(0, n));
    ASSERT_FALSE(r.good()) << n;
    ASSERT_EQ(r.faults.size(), 1u);
  }
}

TEST(wrong_trees, that_are_huge_end_in_time) {
  const std::string deep = std::string(1 << 20, '['), many(5 << 20, ' ');
  EXPECT_EQ(all_faults(read_text(deep)), "test:1: nested deeper than 64\n");
  EXPECT_EQ(all_faults(read_text(many)), "test:1: the text is longer than 4 MiB\n");
  std::string regions = "[{\"use\": \"ring\"}";
  for (int i = 0; i < 1000; ++i) regions += ",{\"use\": \"ring\"}";
  EXPECT_EQ(all_faults(read_pure("{\"allgather\": " + regions + "]}")),
            "test:1: /pure/allgather: there are more than 256 regions\n");
  std::string items = "[0";
  for (int i = 0; i < 20000; ++i) items += ",0";
  EXPECT_EQ(read_pure("{\"allgather\": [{\"by\": \"bytes\", \"steps\": " + items + "]}]}").faults.size(),
            1001u);
}

TEST(right_trees, are_written_as_they_are_read) {
  const auto files = files_of("right");
  EXPECT_GE(files.size(), 5u);
  for (const fs::path& file : files) {
    const read_result r = read_tree(contents(file), file.filename().string(), extent_of(file));
    ASSERT_TRUE(r.good()) << all_faults(r);
    const std::string text = write_tree(r.made);
    const read_result again = read_text(text, extent_of(file));
    ASSERT_TRUE(again.good()) << file << all_faults(again) << text;
    EXPECT_EQ(write_tree(again.made), text) << file;
  }
}

TEST(right_trees, on_the_common_one_serve_every_call) {
  const document common = builtin_document("common");
  for (const fs::path& file : files_of("right")) {
    const read_result r = read_tree(contents(file), file.filename().string(), extent_of(file));
    const document both = overlay(common, r.made);
    std::size_t wrong = 0;
    unsigned turn = 0;
    for_each_selection_context([&](const selection_context& one) {
      const selection_context s = varied(one, ++turn * 37);
      for (const tree_half half : {tree_half::composition, tree_half::pure})
        wrong += !serves(decide(both, s, half), s, half);
    });
    EXPECT_EQ(wrong, 0u) << file;
    const read_result whole = read_text(write_tree(both), extent::whole);
    EXPECT_TRUE(whole.good()) << all_faults(whole);
  }
}

TEST(builtin_trees, serve_every_call_whatever_the_engine_registers) {
  for (const std::string_view engine : builtin_tree_names()) {
    const document tree = builtin_document(engine);
    std::size_t calls = 0, wrong = 0;
    for_each_selection_context([&](selection_context s) {
      for (const std::uint32_t registered : {0u, 1u, 2u, 3u}) {
        s.engine = registered;
        ++calls;
        for (const tree_half half : {tree_half::composition, tree_half::pure})
          wrong += !serves(decide(tree, s, half), s, half);
      }
    });
    EXPECT_GT(calls, 2000000u);
    EXPECT_EQ(wrong, 0u) << engine;
  }
}

// The fallback chooses the native collective, or else a schedule of messages, and needs no tree.
TEST(fallback_in_code, serves_every_call_that_any_algorithm_serves) {
  std::size_t served = 0;
  for_each_selection_context([&](const selection_context& s) {
    const auto fits = [&](const pure_algorithm* a) {
      return a->what == s.call.what && permits(choice(a), s);
    };
    const bool any = std::any_of(catalogue().begin(), catalogue().end(), fits);
    try {
      const choice made = choose(s);
      ASSERT_TRUE(made.pure == nullptr || fits(made.pure));
      ++served;
    } catch (const usage_error&) {
      ASSERT_FALSE(any) << name_of(s.call.what);
    }
  });
  EXPECT_GT(served, 500000u);
}

TEST(builtin_trees, are_complete_and_record_their_origin) {
  EXPECT_TRUE(builtin_tree("nonsense").empty());
  EXPECT_THROW((void)builtin_document("nonsense"), std::invalid_argument);
  for (const std::string_view engine : builtin_tree_names()) {
    const read_result whole = read_text(write_tree(builtin_document(engine)), extent::whole);
    EXPECT_TRUE(whole.good()) << all_faults(whole);
  }
  const document d = builtin_document("threads");
  const selection_context s =
      make_selection_context(collective::gather, 4, 8, 8, false, {}, true, false, true, true);
  EXPECT_EQ(decide(d, s).from.file->name, "trees/threads.json");
  const std::string text(builtin_tree("threads"));
  int line = 1;
  std::istringstream lines(text);
  for (std::string one; std::getline(lines, one) && line != decide(d, s).from.line;) ++line;
  std::string reachable;
  std::istringstream again(text);
  for (int i = 0; i < line; ++i) std::getline(again, reachable);
  EXPECT_NE(reachable.find("\"use\": \"knomial\""), reachable.npos) << reachable;
}

TEST(overlays, take_precedence_and_drop_what_is_unreachable) {
  const document common = builtin_document("common");
  const auto all = static_cast<std::size_t>(collective::allreduce);
  const read_result over =
      read_pure(R"({"allreduce": [{"when": {"inter": false}, "use": "recursive_doubling"}]})");
  ASSERT_TRUE(over.good()) << all_faults(over);
  const document both = overlay(common, over.made);
  EXPECT_EQ(common.pure[all].size(), 4u);
  ASSERT_EQ(both.pure[all].size(), 2u);  // only intercommunicator calls are left to the common tree
  EXPECT_EQ(both.pure[all][1].then.use.chosen.pure->name, "allreduce/across");
  EXPECT_EQ(both.pure[0].size(), common.pure[0].size());
  EXPECT_EQ(overlay(both, document{}).pure[all].size(), 2u);
}

TEST(explanations, give_the_path_and_why_the_others_are_not_taken) {
  const read_result over = read_text(
      "{\"schema\": \"tutti/tree/1\", \"pure\": {\"allreduce\": [\n"
      " {\"when\": {\"commutative\": true, \"inter\": false},\n  \"by\": \"bytes\", \"steps\": [\n"
      "  {\"upto\": \"2K\", \"use\": \"recursive_multiplying\", \"with\": {\"k\": 4}},\n"
      "  {\"use\": \"segmented_ring\", \"with\": {\"segment\": \"8K\"}}]}]}}");
  ASSERT_TRUE(over.good()) << all_faults(over);
  const document d = overlay(builtin_document("common"), over.made);
  selection_context s = make_selection_context(collective::allreduce, 12, 256, 8, false, builtin_op::sum,
                                               true, false, false, true);
  explanation e = explain(d, s);
  EXPECT_EQ(e.algorithm, "allreduce/recursive_multiplying");
  EXPECT_EQ(e.chosen.chosen.parameter_values[static_cast<std::size_t>(algorithm_parameter::k)], 4u);
  EXPECT_EQ(e.source, "file");
  EXPECT_EQ(e.chosen.from.line, 4);
  ASSERT_EQ(e.path.size(), 2u);
  EXPECT_EQ(e.path[0].text, "when commutative = true, inter = false");
  EXPECT_EQ(e.path[0].from.line, 2);
  EXPECT_EQ(e.path[1].text, "by bytes = 2048: upto 2048");
  EXPECT_EQ(e.path[1].from.line, 4);
  const auto reason = [&](std::string_view name) {
    for (const auto& r : e.rejected)
      if (r.algorithm == name) return r.reason;
    return std::string("not among them");
  };
  EXPECT_EQ(reason("allreduce/native"), "the engine has no collective of its own for it");
  EXPECT_EQ(reason("allreduce/across"), "it works between two groups only");
  EXPECT_EQ(reason("allreduce/recursive_multiplying"), "not among them");
  EXPECT_EQ(reason("allreduce/ring"), "not reached: the tree chooses allreduce/recursive_multiplying here");
  s.call.count = 257;
  e = explain(d, s);
  EXPECT_EQ(e.algorithm, "allreduce/segmented_ring");
  EXPECT_EQ(e.path.back().text, "by bytes = 2056: the last step");
  s.call.commutative = false;
  s.call.op = builtin_op::user;
  e = explain(d, s);
  EXPECT_EQ(e.source, "default");
  EXPECT_EQ(reason("allreduce/ring"),
            "it requires an operator that is declared commutative (ops::commutative, or a standard functor)");
  EXPECT_EQ(e.rejected.size() + 1, static_cast<std::size_t>(std::count_if(
                                       catalogue().begin(), catalogue().end(),
                                       [](const auto* a) { return a->what == collective::allreduce; })) +
                                       1);
  const document empty;
  EXPECT_EQ(explain(empty, s).algorithm, "");
  EXPECT_EQ(explain(empty, s, tree_half::composition).algorithm, "@pure");
}

TEST(conditions, have_names_and_obey_their_laws) {
  for (const condition_entry& e : conditions()) EXPECT_EQ(find_condition(name_of(e.which)), e.which);
  for (const quantity_entry& e : quantities()) EXPECT_EQ(find_quantity(name_of(e.which)), e.which);
  std::size_t broken = 0;
  unsigned turn = 0;
  for_each_selection_context([&](selection_context s) {
    s = varied(s, ++turn);
    for (const bool native : {false, true}) {
      s.native = native;  // also where no engine offers it
      s.call.in_place = !s.call.in_place;
      const condition_bits truth = conditions_of(s);
      broken += !fixed_conditions(s.call.what).hold(truth);
      for (const consequence& c : consequences())
        broken += ((truth & bit(c.first)) != 0) == c.first_value &&
                  ((truth & bit(c.second)) != 0) != c.second_value;
    }
  });
  EXPECT_EQ(broken, 0u);
  selection_context s =
      make_selection_context(collective::allgather, 6, 5, 8, false, {}, true, false, false, true);
  EXPECT_EQ(value_of(quantity::bytes, s), 40u);
  EXPECT_EQ(value_of(quantity::total_bytes, s), 240u);
  s.call.count = ~std::size_t{0};
  EXPECT_EQ(value_of(quantity::total_bytes, s), ~std::uint64_t{0});
}

TEST(truth_sets, are_exact) {
  std::mt19937 random(static_cast<unsigned>(tests::seed_or(1)));
  for (int round = 0; round < 300; ++round) {
    const auto what = static_cast<collective>(random() % collective_names.size());
    condition_bits mentioned = 0;
    for (int i = 0; i < 9; ++i) mentioned |= condition_bits{1} << random() % conditions().size();
    if (round % 3 == 0) mentioned |= bit(declared(random() % max_declared));
    const auto some = [&] {
      literals l;
      const auto bits = [&] { return condition_bits{random()} << 32 | random(); };
      l.mask = bits() & bits() & mentioned;
      l.values = bits() & l.mask;
      return l;
    };
    truth_set set(mentioned, what);
    std::vector<literals> previous;
    const auto brute = [&](const literals& applies, const literals* violated) {
      for (condition_bits truth = mentioned;; truth = (truth - 1) & mentioned) {
        const literals fixed = fixed_conditions(what);
        bool reachable = ((truth ^ fixed.values) & fixed.mask & mentioned) == 0 && applies.hold(truth) &&
                         (violated == nullptr || !violated->hold(truth));
        for (const consequence& c : consequences())
          if ((mentioned & bit(c.first)) && (mentioned & bit(c.second)) &&
              ((truth & bit(c.first)) != 0) == c.first_value &&
              ((truth & bit(c.second)) != 0) != c.second_value)
            reachable = false;
        for (const literals& t : previous) reachable = reachable && !t.hold(truth);
        if (reachable) return true;
        if (truth == 0) return false;
      }
    };
    for (int i = 0; i < 6; ++i) {
      const literals a = some(), b = some();
      ASSERT_EQ(set.intersects(a), brute(a, nullptr));
      ASSERT_EQ(set.any_without(a, b).has_value(), brute(a, &b));
      ASSERT_EQ(set.any().has_value(), brute({}, nullptr));
      set.subtract(a);
      previous.push_back(a);
    }
  }
}

TEST(suggestions, name_what_is_near) {
  static constexpr std::string_view names[] = {"ring", "bruck", "recursive_doubling"};
  EXPECT_EQ(closest("rnig", names), "ring");
  EXPECT_EQ(closest("recursive-doubling", names), "recursive_doubling");
  EXPECT_EQ(closest("swing_over_the_river", names), "");
  EXPECT_EQ(suggest("xyz", names), "known: ring, bruck, recursive_doubling");
}

}  // namespace
}  // namespace tutti::detail

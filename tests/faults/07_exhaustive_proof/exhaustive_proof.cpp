// SPDX-License-Identifier: Apache-2.0
//
// Tests that the proof detects a reduce that is wrong only for 41 ranks and root 13 in one mode.
// The report must count what was tried.
#include <gtest/gtest.h>

#include "proof/composed_cases.hpp"
#include "proof/prove.hpp"
#include "selection/choose.hpp"
#include "tool/tool.hpp"

namespace {

using namespace tutti;

using namespace tutti::detail;
using namespace tool_tests;

struct {
  bool in_place, commutative;
} injected;

// The same as reduce/linear, except that in one case the root combines nothing.
void wrong_for_one_root(const shape& s, builder& b) {
  const bool here = s.size == 41 && s.root == 13 && s.in_place == injected.in_place &&
                    s.commutative == injected.commutative;
  if (!here || s.rank != 13) find_algorithm(collective::reduce, "linear")->write(s, b);
}

TEST(proof, finds_error_of_one_root_in_one_mode) {
  pure_algorithm wrong = *find_algorithm(collective::reduce, "linear");
  wrong.write = &wrong_for_one_root;
  proof::abstract_machine machine;
  for (const bool in_place : {false, true})
    for (const bool commutative : {false, true}) {
      injected = {in_place, commutative};
      const proof::proof_result all = proof::prove(wrong, 41, machine);
      ASSERT_FALSE(all.findings.empty()) << in_place << commutative;
      EXPECT_NE(all.findings[0].call.find("root 13"), std::string::npos) << all.findings[0].call;
      EXPECT_TRUE(proof::prove(wrong, 40, machine).findings.empty());
    }
}

TEST(proof, covers_every_root_mode_and_count_up_to_64_ranks) {
  for (const pure_algorithm* a : catalogue())
    for (const int p : {10, 41, 64}) {
      const proof::case_list made = proof::result_cases(*a, p);
      if (!proof::serves(*a, p)) continue;
      EXPECT_GT(made.default_parameters.all, 0u) << a->name;
      EXPECT_EQ(made.default_parameters.tried, made.default_parameters.all)
          << a->name << ", " << p << " ranks";
      EXPECT_LE(made.all_parameters.tried, made.all_parameters.all) << a->name << ", " << p << " ranks";
    }
  const auto reduce = proof::result_cases(*find_algorithm(collective::reduce, "linear"), 64);
  EXPECT_EQ(reduce.default_parameters.all, 64u * 4 * 4);  // roots, modes, counts
  const auto beyond = proof::result_cases(*find_algorithm(collective::reduce, "linear"), 65);
  EXPECT_LT(beyond.default_parameters.tried, beyond.default_parameters.all);
  const auto exhaustive = proof::result_cases(*find_algorithm(collective::reduce, "knomial"), 65, true);
  EXPECT_EQ(exhaustive.default_parameters.tried, exhaustive.default_parameters.all);
  EXPECT_EQ(exhaustive.all_parameters.tried, exhaustive.all_parameters.all);
}

TEST(proof, of_compositions_counts_skipped_cases) {
  const composed_algorithm& c = *find_composition(collective::bcast, "node_leader");
  const proof::coverage few = proof::prove(c, 4).topologies, many = proof::prove(c, 12).topologies,
                        all = proof::prove(c, 12, true).topologies;
  EXPECT_EQ(few.tried, few.all);
  EXPECT_LT(many.tried, many.all);
  EXPECT_EQ(all.tried, all.all);
  EXPECT_EQ(all.all, many.all);
}

TEST(check, prints_all_proved_only_if_nothing_was_skipped) {
  const command_result few = tool_tests::tutti("check reduce/linear --ranks 1..12");
  EXPECT_EQ(few.status, 0);
  EXPECT_NE(few.text.find(": all proved\n"), std::string::npos) << few.text;
  const command_result many = tool_tests::tutti("check reduce/knomial --ranks 20");
  EXPECT_EQ(many.status, 0);
  EXPECT_EQ(many.text.find("all proved"), std::string::npos) << many.text;
  EXPECT_NE(many.text.find("all  : 320 of 320 combinations of root, mode and count"), std::string::npos)
      << many.text;
  EXPECT_NE(many.text.find("drawn: "), std::string::npos) << many.text;
  EXPECT_NE(many.text.find("counts: 0, 1, p - 1 and 2 p + 3 elements"), std::string::npos) << many.text;
  EXPECT_NE(many.text.find("--exhaustive"), std::string::npos) << many.text;
  const command_result all = tool_tests::tutti("check reduce/knomial --ranks 20 --exhaustive");
  EXPECT_NE(all.text.find(": all proved\n"), std::string::npos) << all.text;
  const command_result object = tool_tests::tutti("check reduce/knomial --ranks 20 --json");
  EXPECT_NE(object.text.find("\"root_mode_count\""), std::string::npos) << object.text;
}

}  // namespace

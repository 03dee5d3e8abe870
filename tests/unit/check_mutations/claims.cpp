// SPDX-License-Identifier: Apache-2.0
//
// Compares the claims in the head of an algorithm with the costs of its run.
#include "unit/check_mutations/subject.hpp"

namespace tutti::proof {
namespace {

TEST_P(mutations, of_claims_are_found) {
  for (const int ranks : {3, 4, 5, 8}) {
    pure_algorithm a = algorithm(GetParam());
    const subject s(a, ranks);
    const costs& cost = s.unmodified.measured;
    const std::string rounds = std::to_string(cost.rounds), bytes = std::to_string(cost.max_bytes()),
                      scratch = std::to_string(cost.max_scratch());
    a.rounds = rounds;
    a.bytes = bytes;
    a.scratch = scratch;
    EXPECT_TRUE(compare_claims(a, s.call, cost).empty()) << s.name;
    for (std::string_view pure_algorithm::*claim : {&pure_algorithm::rounds, &pure_algorithm::bytes}) {
      const std::string right(a.*claim);
      for (const std::string& wrong :
           {right + " - 1", right + " + 1", "<= " + right + " - 1", right + " / 0 * 0"}) {
        a.*claim = wrong;
        EXPECT_EQ(compare_claims(a, s.call, cost).size(), 1u) << s.name << ": " << wrong;
      }
      const std::string bound = "<= " + right + " + 1";
      a.*claim = bound;
      EXPECT_TRUE(compare_claims(a, s.call, cost).empty()) << s.name;
      a.*claim = claim == &pure_algorithm::rounds ? std::string_view(rounds) : std::string_view(bytes);
    }
    const std::string less = scratch + " - 1", more = scratch + " + 1", unknown = "2 * nn";
    a.scratch = less;
    EXPECT_EQ(compare_claims(a, s.call, cost).size(), 1u) << s.name;
    a.scratch = more;
    EXPECT_TRUE(compare_claims(a, s.call, cost).empty()) << s.name;
    a.scratch = unknown;
    EXPECT_EQ(compare_claims(a, s.call, cost).size(), 1u) << s.name;
  }
}

}  // namespace
}  // namespace tutti::proof

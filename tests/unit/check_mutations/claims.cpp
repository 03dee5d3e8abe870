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

// The link of a root is as busy if it receives as if it sends.
TEST(claims, cover_what_the_busiest_rank_receives) {
  const auto max = [](const std::vector<std::uint64_t>& of_ranks) {
    return *std::max_element(of_ranks.begin(), of_ranks.end());
  };
  abstract_machine machine;
  for (const char* name : {"gather/linear", "reduce/knomial", "reduce_scatter/hops"}) {
    pure_algorithm a = algorithm(name);
    const subject s(a, 8);
    const costs& cost = s.unmodified.measured;
    ASSERT_LT(max(cost.sent), max(cost.received)) << name;
    const std::string sent = "<= " + std::to_string(max(cost.sent)),
                      received = "<= " + std::to_string(max(cost.received));
    a.bytes = sent;
    EXPECT_EQ(compare_claims(a, s.call, cost).size(), 1u) << name;
    a.bytes = received;
    EXPECT_TRUE(compare_claims(a, s.call, cost).empty()) << name;
  }
  pure_algorithm a = algorithm("reduce/knomial");
  EXPECT_TRUE(prove(a, 8, machine).findings.empty());
  a.bytes = "p > 1 ? n : 0";  // what each rank sends
  const proof_result all = prove(a, 8, machine);
  ASSERT_FALSE(all.findings.empty());
  EXPECT_TRUE(all.findings[0].what.what.starts_with("Bytes: p > 1 ? n : 0 is 128 here, but it takes 384"))
      << all.findings[0].what.what;
}

}  // namespace
}  // namespace tutti::proof

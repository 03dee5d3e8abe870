// SPDX-License-Identifier: Apache-2.0
//
// GoogleTests that fail: on the last rank of a job, with one of many seeds, on random input.
#include <cstdio>
#include <random>

#include "support/check.hpp"
#include "support/named_cases.hpp"
#include "support/ranks.hpp"
#include "support/seed.hpp"

namespace tests {
namespace {

void program(tutti::detail::endpoint& ep) {
  cases all;
  all("before", [] { std::fputs("another case is tried\n", stderr); });
  all("one_of_two", [&] { check.that(ep.rank() != ep.size() - 1, "planted"); });
}

class a_job : public testing::TestWithParam<job> {};
INSTANTIATE_TEST_SUITE_P(engines, a_job, testing::Values(job{"threads", 3}, job{"fibers", 5, 2}), by_name());

TEST_P(a_job, fails) { EXPECT_TRUE(passes(GetParam(), program)); }

TEST(a_seed, fails) {
  for_each_seed(1, 1000, [](std::uint64_t seed) { EXPECT_NE(seed, 17u); });
}

TEST(a_drawn_number, fails) {
  std::mt19937 random(static_cast<unsigned>(seed_or(std::random_device()())));
  EXPECT_EQ(random(), 0u);
}

}  // namespace
}  // namespace tests

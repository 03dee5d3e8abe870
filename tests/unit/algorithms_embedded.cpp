// SPDX-License-Identifier: Apache-2.0
//
// Runs the cases of algorithm_cases.hpp on the embedded engines, with more ranks and workers than
// programs can request, and with random interleavings.
#include "support/algorithm_cases.hpp"
#include "support/ranks.hpp"
#include "support/seed.hpp"

namespace tests {
namespace {

std::string by_ranks(const testing::TestParamInfo<int>& info) { return "p" + std::to_string(info.param); }

class threads_engine : public testing::TestWithParam<int> {};
TEST_P(threads_engine, computes_what_plain_loops_compute) {
  EXPECT_TRUE(passes({"threads", GetParam()}, every_algorithm));
}
INSTANTIATE_TEST_SUITE_P(ranks, threads_engine, testing::Values(1, 2, 3, 4, 5), by_ranks);

class fibers_engine : public testing::TestWithParam<int> {};
TEST_P(fibers_engine, computes_what_plain_loops_compute) {
  EXPECT_TRUE(passes({"fibers", GetParam(), 2}, every_algorithm));
}
// Every kind of shape that the algorithms distinguish. check_all proves their schedules for the
// numbers between, too.
INSTANTIATE_TEST_SUITE_P(ranks, fibers_engine,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16, 17, 33, 64), by_ranks);

TEST(one_worker, computes_what_plain_loops_compute) {
  for (const int p : {1, 2, 3, 5, 8}) EXPECT_TRUE(passes({"fibers", p, 1}, every_algorithm));
}

TEST(random_interleavings, compute_what_plain_loops_compute) {
  for_each_seed(1, 10, [](std::uint64_t seed) {
    EXPECT_TRUE(passes({"fibers", 4, 1, seed}, every_algorithm));
  });
}

}  // namespace
}  // namespace tests

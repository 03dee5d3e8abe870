// SPDX-License-Identifier: Apache-2.0
//
// The cases of algorithm_cases.hpp on the embedded engines, with more ranks and workers than programs can ask
// for, and under drawn interleavings.
#include <gtest/gtest.h>

#include "support/algorithm_cases.hpp"

namespace tutti {
namespace {

void program(endpoint& door) {
  auto shared = std::make_shared<detail::rank_state>();
  shared->door = &door;
  shared->by = std::make_shared<const selection>();
  detail::core core(shared, door.open(group::range(0, 1, door.size(), door.rank()), 1, nullptr));
  algorithm_cases::try_everything(core);
}

launch with(int ranks, int workers = 0, std::uint64_t seed = 0) {
  launch how;
  how.ranks = ranks;
  how.workers = workers;
  how.seed = seed;
  return how;
}

class threads_engine : public testing::TestWithParam<int> {};
TEST_P(threads_engine, computes_what_plain_loops_compute) {
  const outcome end = run_threads(with(GetParam()), program);
  EXPECT_EQ(end.failed_rank, -1) << end.text;
}
INSTANTIATE_TEST_SUITE_P(ranks, threads_engine, testing::Values(1, 2, 3, 4, 5));

class fibers_engine : public testing::TestWithParam<int> {};
TEST_P(fibers_engine, computes_what_plain_loops_compute) {
  const outcome end = run_fibers(with(GetParam(), 2), program);
  EXPECT_EQ(end.failed_rank, -1) << end.text;
}
INSTANTIATE_TEST_SUITE_P(ranks, fibers_engine,
                         testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 33,
                                         64));

TEST(one_worker, computes_what_plain_loops_compute) {
  for (const int p : {1, 2, 3, 5, 8}) {
    const outcome end = run_fibers(with(p, 1), program);
    EXPECT_EQ(end.failed_rank, -1) << end.text;
  }
}

TEST(drawn_interleavings, computes_what_plain_loops_compute) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const outcome end = run_fibers(with(4, 1, seed), program);
    EXPECT_EQ(end.failed_rank, -1) << "seed " << seed << ": " << end.text;
  }
}

}  // namespace
}  // namespace tutti

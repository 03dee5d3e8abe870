// SPDX-License-Identifier: Apache-2.0
//
// Runs every composition on the embedded engines, with simulated nodes: even, uneven, scattered, of
// two levels.
#include "support/algorithm_cases.hpp"
#include "support/ranks.hpp"
#include "support/scoped_variable.hpp"
#include "support/seed.hpp"

namespace tests {
namespace {

struct layout_case {
  const char* nodes;  // value of TUTTI_NODES
  int ranks;
};

// Under a sanitizer each runs fewer cases; the plain build runs all.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr coverage extent = coverage::some;
#else
constexpr coverage extent = coverage::all;
#endif

class compositions : public testing::TestWithParam<layout_case> {
 protected:
  static testing::AssertionResult pass(const char* engine, int workers, coverage how = extent,
                                       std::uint64_t seed = 0) {
    const scoped_variable nodes("TUTTI_NODES", GetParam().nodes);
    return passes({engine, GetParam().ranks, workers, seed},
                  [&](tutti::detail::endpoint& ep) { every_composition(ep, how); });
  }
};

TEST_P(compositions, compute_what_plain_loops_compute_on_fibers) { EXPECT_TRUE(pass("fibers", 2)); }

TEST_P(compositions, compute_what_plain_loops_compute_under_random_interleavings) {
  for_each_seed(1, 3, [&](std::uint64_t seed) { EXPECT_TRUE(pass("fibers", 1, coverage::some, seed)); });
}

class compositions_on_threads : public compositions {};
TEST_P(compositions_on_threads, compute_what_plain_loops_compute) { EXPECT_TRUE(pass("threads", 0)); }

std::string name_of_layout(const testing::TestParamInfo<layout_case>& info) {
  std::string name = info.param.nodes;
  for (char& c : name)
    if (c == ':' || c == ',') c = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(layouts, compositions_on_threads,
                         testing::Values(layout_case{"2x1", 2}, layout_case{"2,1", 3},
                                         layout_case{"0:1:0:1", 4}),
                         name_of_layout);
INSTANTIATE_TEST_SUITE_P(layouts, compositions,
                         testing::Values(layout_case{"1x1", 1}, layout_case{"1x3", 3}, layout_case{"2x1", 2},
                                         layout_case{"2x2", 4}, layout_case{"0:1:0:1", 4},
                                         layout_case{"3,1", 4}, layout_case{"0:1:1:0:2", 5},
                                         layout_case{"3x2", 6}, layout_case{"4x2", 8},
                                         layout_case{"3,1,4", 8}, layout_case{"2x2x2", 8},
                                         layout_case{"0:1:2:0:1:2:0:1:2", 9}, layout_case{"2x3x2", 12},
                                         layout_case{"5,1,1,6", 13}, layout_case{"4x4", 16},
                                         layout_case{"8x5", 40}),
                         name_of_layout);

}  // namespace
}  // namespace tests

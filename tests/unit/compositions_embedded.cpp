// SPDX-License-Identifier: Apache-2.0
//
// Every composition on the embedded engines, over pretended nodes: even, uneven, scattered, of two levels.
#include <cstdlib>

#include <gtest/gtest.h>

#include "support/algorithm_cases.hpp"

namespace tutti {
namespace {

struct layout_case {
  const char* nodes;  // of TUTTI_NODES
  int ranks;
};

template <bool Thorough>
void program(endpoint& door) {
  auto shared = std::make_shared<detail::rank_state>();
  shared->door = &door;
  shared->by = std::make_shared<const selection>();
  detail::core core(shared, door.open(group::range(0, 1, door.size(), door.rank()), 1, nullptr));
  algorithm_cases::try_every_composition(core, Thorough);
}

launch with(const layout_case& l, int workers, std::uint64_t seed = 0) {
  setenv("TUTTI_NODES", l.nodes, 1);
  launch how;
  how.ranks = l.ranks;
  how.workers = workers;
  how.seed = seed;
  return how;
}

// Under a sanitizer less of each is tried: the plain build tries all.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool thoroughly = false;
#else
constexpr bool thoroughly = true;
#endif

class compositions : public testing::TestWithParam<layout_case> {
 protected:
  void TearDown() override { unsetenv("TUTTI_NODES"); }
};

TEST_P(compositions, compute_what_plain_loops_compute_on_fibers) {
  const outcome end = run_fibers(with(GetParam(), 2), program<thoroughly>);
  EXPECT_EQ(end.failed_rank, -1) << end.text;
}

TEST_P(compositions, compute_what_plain_loops_compute_under_drawn_interleavings) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const outcome end = run_fibers(with(GetParam(), 1, seed), program<false>);
    EXPECT_EQ(end.failed_rank, -1) << "seed " << seed << ": " << end.text;
  }
}

class compositions_on_threads : public compositions {};
TEST_P(compositions_on_threads, compute_what_plain_loops_compute) {
  const outcome end = run_threads(with(GetParam(), 0), program<thoroughly>);
  EXPECT_EQ(end.failed_rank, -1) << end.text;
}

std::string name_of(const testing::TestParamInfo<layout_case>& info) {
  std::string name = info.param.nodes;
  for (char& c : name)
    if (c == ':' || c == ',') c = '_';
  return name;
}
INSTANTIATE_TEST_SUITE_P(layouts, compositions_on_threads,
                         testing::Values(layout_case{"2x1", 2}, layout_case{"2,1", 3},
                                         layout_case{"0:1:0:1", 4}),
                         name_of);
INSTANTIATE_TEST_SUITE_P(layouts, compositions,
                         testing::Values(layout_case{"1x1", 1}, layout_case{"1x3", 3}, layout_case{"2x1", 2},
                                         layout_case{"2x2", 4}, layout_case{"0:1:0:1", 4},
                                         layout_case{"3,1", 4}, layout_case{"0:1:1:0:2", 5},
                                         layout_case{"3x2", 6}, layout_case{"4x2", 8},
                                         layout_case{"3,1,4", 8}, layout_case{"2x2x2", 8},
                                         layout_case{"0:1:2:0:1:2:0:1:2", 9}, layout_case{"2x3x2", 12},
                                         layout_case{"5,1,1,6", 13}, layout_case{"4x4", 16},
                                         layout_case{"8x5", 40}),
                         name_of);

}  // namespace
}  // namespace tutti

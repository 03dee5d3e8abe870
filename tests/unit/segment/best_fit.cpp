// SPDX-License-Identifier: Apache-2.0
//
// Allocations of an interval of addresses, compared with a list of those that exist.
#include "transport/shm/best_fit.hpp"

#include <map>
#include <random>

#include <gtest/gtest.h>

namespace {

using tutti::shm::best_fit;

constexpr std::uintptr_t begin = 0x10000, end = begin + (1 << 20);

TEST(best_fit, random_allocations_are_disjoint_aligned_and_merge_again) {
  best_fit space(begin, end);
  std::map<std::uintptr_t, std::uintptr_t> all;
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    if (random() % 3 != 0 || all.empty()) {
      const std::size_t bytes = random() % 2 ? random() % 300 : random() % 30000;
      const std::size_t alignment = std::size_t{1} << random() % 14;
      const std::uintptr_t at = space.allocate(bytes, alignment);
      if (at == 0) {
        ++refused;
        continue;
      }
      const best_fit::interval found = space.find(at);
      ASSERT_EQ(found.begin, at);
      ASSERT_GE(found.end - at, bytes);
      ASSERT_LT(found.end - at, bytes + best_fit::granule + (bytes == 0));
      ASSERT_EQ(at % alignment, 0u);
      ASSERT_GE(at, begin);
      ASSERT_LE(found.end, end);
      const auto next = all.lower_bound(at);
      ASSERT_TRUE(next == all.end() || next->first >= found.end);
      ASSERT_TRUE(next == all.begin() || std::prev(next)->second <= at);
      all.emplace(at, found.end);
    } else {
      const auto one = std::next(all.begin(), static_cast<long>(random() % all.size()));
      space.deallocate(one->first);
      ASSERT_EQ(space.find(one->first).end, 0u);
      all.erase(one);
    }
  }
  EXPECT_GT(refused, 0);  // the interval was full at times
  for (const auto& [at, last] : all) space.deallocate(at);
  EXPECT_EQ(space.allocate(end - begin, 1), begin);
}

TEST(best_fit, takes_the_smallest_interval_that_is_free) {
  best_fit space(begin, end);
  const std::uintptr_t large = space.allocate(4096, 1), wall = space.allocate(64, 1);
  const std::uintptr_t small = space.allocate(1024, 1);
  ASSERT_NE(space.allocate(64, 1), 0u);
  space.deallocate(large);
  space.deallocate(small);
  EXPECT_EQ(space.allocate(1000, 1), small);
  EXPECT_EQ(space.allocate(1000, 1), large);
  EXPECT_EQ(space.find(wall).end, wall + 64);
}

TEST(best_fit, finds_only_the_begin_of_an_allocation) {
  best_fit space(begin, end);
  const std::uintptr_t at = space.allocate(256, 1);
  EXPECT_EQ(space.find(at).end, at + 256);
  EXPECT_EQ(space.find(at + 64).end, 0u);
  EXPECT_EQ(space.find(at + 256).end, 0u);
}

TEST(best_fit, refuses_what_does_not_fit) {
  best_fit space(begin, end);
  EXPECT_EQ(space.allocate(end - begin + 1, 1), 0u);
  EXPECT_EQ(space.allocate(~std::size_t{0}, 1), 0u);
  EXPECT_EQ(space.allocate(64, std::size_t{1} << 62), 0u);
  EXPECT_EQ(space.allocate(end - begin, 1), begin);
  EXPECT_EQ(space.allocate(0, 1), 0u);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

#include "transport/shm/segment_layout.hpp"

namespace {

using namespace tutti::shm;

TEST(segment_layout, parts_are_disjoint_aligned_and_inside) {
  for (const int ranks : {1, 2, 7, 128}) {
    segment_layout layout(ranks);
    struct placed {
      segment_part part;
      std::size_t bytes, alignment;
    };
    std::vector<placed> all;
    for (const std::size_t bytes : {1, 8, 127, 4096, 100'000})
      for (const std::size_t alignment : {1, 64, 128, 4096}) {
        all.push_back({layout.add("shared", bytes, alignment), bytes, alignment});
        all.push_back({layout.add_per_rank("own", bytes, alignment), bytes, alignment});
      }
    std::vector<std::pair<std::size_t, std::size_t>> used{
        {0, sizeof(segment_header) + static_cast<std::size_t>(ranks) * sizeof(segment_rank)}};
    for (const placed& p : all)
      for (int r = 0; r < (p.part.per_rank ? ranks : 1); ++r) {
        const std::size_t at = p.part.offset + (p.part.per_rank ? layout.area_offset(r) : 0);
        EXPECT_EQ(at % p.alignment, 0u);
        EXPECT_EQ(p.part.bytes, p.bytes);
        used.emplace_back(at, at + p.bytes);
      }
    std::sort(used.begin(), used.end());
    for (std::size_t i = 1; i < used.size(); ++i) EXPECT_LE(used[i - 1].second, used[i].first);
    EXPECT_LE(used.back().second, layout.bytes());
  }
}

TEST(segment_layout, the_area_of_a_rank_has_pages_of_its_own) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  segment_layout layout(3);
  layout.add("shared", 1);
  layout.add_per_rank("own", 1);
  EXPECT_EQ(layout.shared_bytes(), page);
  EXPECT_EQ(layout.area_bytes(), page);
  for (int r = 0; r < 3; ++r) EXPECT_EQ(layout.area_offset(r), page + static_cast<std::size_t>(r) * page);
  EXPECT_EQ(layout.bytes(), 4 * page);
}

TEST(segment_layout, the_size_grows_linearly_with_the_ranks) {
  const auto bytes = [](int ranks) {
    segment_layout layout(ranks);
    layout.add_per_rank("own", 32 << 10);
    return layout.bytes();
  };
  EXPECT_LE(bytes(128), 128 * bytes(1));
  EXPECT_LE(bytes(1000), 1000 * bytes(1));
}

TEST(segment_layout, the_hash_depends_on_everything_that_ranks_must_agree_on) {
  const auto hash = [](int ranks, const char* name, std::size_t bytes, std::size_t alignment, bool per_rank) {
    segment_layout layout(ranks);
    layout.add("first", 8);
    per_rank ? layout.add_per_rank(name, bytes, alignment) : layout.add(name, bytes, alignment);
    return layout.hash();
  };
  const std::uint64_t same = hash(2, "counters", 64, 128, true);
  EXPECT_EQ(hash(2, "counters", 64, 128, true), same);
  EXPECT_NE(hash(3, "counters", 64, 128, true), same);
  EXPECT_NE(hash(2, "counters/2", 64, 128, true), same);
  EXPECT_NE(hash(2, "counters", 65, 128, true), same);
  EXPECT_NE(hash(2, "counters", 64, 128, false), same);
  EXPECT_NE(hash(2, "counters", 64, 4096, false), hash(2, "counters", 64, 128, false));
}

TEST(segment_layout, rejects_alignments_that_no_mapping_has) {
  segment_layout layout(2);
  for (const std::size_t alignment : {0, 3, 8192})
    EXPECT_THROW(layout.add("part", 8, alignment), std::logic_error) << alignment;
}

}  // namespace

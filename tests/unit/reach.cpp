// SPDX-License-Identifier: Apache-2.0
//
// Tests which members a member of a group knows: groups of each kind against the definition, and
// which kind serves which.
#include "base/group/reach.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/group/rank_list.hpp"

namespace tutti::detail {
namespace {

constexpr reach kinds[] = {reach::any_rank, reach::hops_around, reach::hops, reach::neighbors_around,
                           reach::neighbors};

// Returns the address of member r; -1 if there is none.
int address_of(int r, int n, bool around) {
  if (!around && (r < 0 || r >= n)) return -1;
  return 1000 - 7 * (((r % n) + n) % n);
}

TEST(reach, what_covers_another_reaches_as_far) {
  for (const reach a : kinds)
    for (const reach b : kinds) {
      bool further = true;
      for (int n = 1; n < 40; ++n)
        for (int from = 0; from < n; ++from)
          for (int to = 0; to < n; ++to)
            further = further && (can_reach(a, from, to, n) || !can_reach(b, from, to, n));
      EXPECT_EQ(includes(a, b), further) << name_of(a) << ", " << name_of(b);
    }
}

TEST(reach, a_group_knows_these_members_and_no_others) {
  for (const reach kind : {reach::hops_around, reach::hops, reach::neighbors_around, reach::neighbors})
    for (int n = 1; n < 40; ++n)
      for (int me = 0; me < n; ++me) {
        std::vector<int> left, right;
        std::vector<bool> expected(static_cast<std::size_t>(n));
        expected[static_cast<std::size_t>(me)] = true;
        for (int hop = 1; hop == 1 || (has_log_hops(kind) && hop < n); hop *= 2) {
          left.push_back(address_of(me - hop, n, wraps_around(kind)));
          right.push_back(address_of(me + hop, n, wraps_around(kind)));
          for (const int r : {me - hop, me + hop})
            if (wraps_around(kind) || (r >= 0 && r < n))
              expected[static_cast<std::size_t>((r % n + n) % n)] = true;
        }
        const group g =
            group::structure(kind, address_of(0, n, true), address_of(me, n, true), n, me, left, right);
        ASSERT_EQ(g.first_address(), 1000);
        for (int r = 0; r < n; ++r) {
          ASSERT_EQ(g.is_known(r), expected[static_cast<std::size_t>(r)])
              << name_of(kind) << " " << n << " " << me << " " << r;
          ASSERT_EQ(g.rank_of(address_of(r, n, true)), g.is_known(r) ? r : -1) << name_of(kind) << n << me;
          if (g.is_known(r)) {
            ASSERT_EQ(g.address(r), address_of(r, n, true))
                << name_of(kind) << " " << n << " " << me << " " << r;
          }
        }
      }
}

}  // namespace
}  // namespace tutti::detail

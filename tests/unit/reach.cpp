// SPDX-License-Identifier: Apache-2.0
//
// Tests which members a member of a group knows: groups of each kind against the definition, and
// which kind serves which.
#include "base/group/reach.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/group/rank_list.hpp"

namespace tutti {
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
            further = further && (reaches(a, from, to, n) || !reaches(b, from, to, n));
      EXPECT_EQ(covers(a, b), further) << name_of(a) << ", " << name_of(b);
    }
}

TEST(reach, a_group_knows_these_members_and_no_others) {
  for (const reach kind : {reach::hops_around, reach::hops, reach::neighbors_around, reach::neighbors})
    for (int n = 1; n < 40; ++n)
      for (int me = 0; me < n; ++me) {
        std::vector<int> left, right;
        std::vector<bool> known(static_cast<std::size_t>(n));
        known[static_cast<std::size_t>(me)] = true;
        for (int hop = 1; hop == 1 || (goes_in_hops(kind) && hop < n); hop *= 2) {
          left.push_back(address_of(me - hop, n, goes_around(kind)));
          right.push_back(address_of(me + hop, n, goes_around(kind)));
          for (const int r : {me - hop, me + hop})
            if (goes_around(kind) || (r >= 0 && r < n))
              known[static_cast<std::size_t>((r % n + n) % n)] = true;
        }
        const group g =
            group::of_few(kind, address_of(0, n, true), address_of(me, n, true), n, me, left, right);
        ASSERT_EQ(g.first_address(), 1000);
        for (int r = 0; r < n; ++r) {
          ASSERT_EQ(g.knows(r), known[static_cast<std::size_t>(r)])
              << name_of(kind) << " " << n << " " << me << " " << r;
          ASSERT_EQ(g.rank_of(address_of(r, n, true)), g.knows(r) ? r : -1) << name_of(kind) << n << me;
          if (g.knows(r)) {
            ASSERT_EQ(g.address(r), address_of(r, n, true))
                << name_of(kind) << " " << n << " " << me << " " << r;
          }
        }
      }
}

}  // namespace
}  // namespace tutti

// SPDX-License-Identifier: Apache-2.0
//
// Writes p as a product of factors of at most k. Exchanges among f ranks for each factor f, one
// after the other, reach all ranks. If p is no such product, neighboring ranks are folded into the
// largest number of groups that is one. A power of two always is one (k >= 2), so a group has at
// most two ranks.
#pragma once

#include <algorithm>
#include <vector>

#include "schedule/patterns/fold.hpp"

namespace tutti::patterns {

struct factors : fold {
  std::vector<int> all;  // in descending order

  factors(int p, int k) : fold(p) {
    for (groups = p; !factorise(groups, k);) --groups;
    pairs = p - groups;
  }

  int members_of(int group) const { return group < pairs ? 2 : 1; }
  int largest() const { return all.empty() ? 1 : all.front(); }

 private:
  bool factorise(int n, int k) {
    all.clear();
    for (int f = std::min(k, n); f > 1; --f)
      for (; n % f == 0; n /= f) all.push_back(f);
    return n == 1;
  }
};

}  // namespace tutti::patterns

// SPDX-License-Identifier: Apache-2.0
//
// p ranks as a product of factors of at most k: exchanges among as many ranks as each factor says, one after
// the other, reach everyone. Where p is no such product, ranks are folded, neighbours together, to the
// greatest number of groups that is one. A power of two would do, so a group has two ranks at most.
#pragma once

#include <algorithm>
#include <vector>

#include "schedule/patterns/fold.hpp"

namespace tutti::patterns {

struct factors : fold {
  std::vector<int> all;  // greatest first

  factors(int p, int k) : fold(p) {
    for (groups = p; !factorise(groups, k);) --groups;
    pairs = p - groups;
  }

  int members_of(int group) const { return group < pairs ? 2 : 1; }
  int most() const { return all.empty() ? 1 : all.front(); }

 private:
  bool factorise(int n, int k) {
    all.clear();
    for (int f = std::min(k, n); f > 1; --f)
      for (; n % f == 0; n /= f) all.push_back(f);
    return n == 1;
  }
};

}  // namespace tutti::patterns

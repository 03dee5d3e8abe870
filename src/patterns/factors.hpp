// SPDX-License-Identifier: Apache-2.0
//
// p ranks as a product of factors of at most k, in which exchanges among as many ranks as a factor says
// follow one another. Where p is no such product, consecutive ranks are gathered in groups behind their
// lowest, so that the largest power of k that is not above p is the number of groups; each has k ranks at
// most.
#pragma once

#include <algorithm>
#include <vector>

namespace tutti::patterns {

struct factors {
  int groups;
  int members;  // of a group, of the first `longer` ones one more
  int longer;
  std::vector<int> all;  // their product is `groups`

  factors(int p, int k) : groups(p) {
    int rest = p;
    for (int f = std::min(k, p); f > 1; --f)
      for (; rest % f == 0; rest /= f) all.push_back(f);
    if (rest > 1) {
      all.clear();
      for (groups = 1; groups <= p / k; groups *= k) all.push_back(k);
    }
    members = p / groups;
    longer = p % groups;
  }

  int group_of(int rank) const {
    const int in_longer = longer * (members + 1);
    return rank < in_longer ? rank / (members + 1) : longer + (rank - in_longer) / members;
  }
  int leader_of(int group) const { return group * members + std::min(group, longer); }
  int members_of(int group) const { return members + (group < longer ? 1 : 0); }
  int most() const { return all.empty() ? 1 : *std::max_element(all.begin(), all.end()); }
};

}  // namespace tutti::patterns

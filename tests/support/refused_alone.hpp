// SPDX-License-Identifier: Apache-2.0
//
// Makes a call that only one rank rejects, and then a right one.
#pragma once

#include <vector>

#include <tutti/tutti.hpp>

#include "support/check.hpp"

namespace tests {

using ints = std::vector<int>;

inline std::size_t at(int n) { return static_cast<std::size_t>(n); }
inline ints numbers(int n, int first) {
  ints v;
  for (int i = 0; i < n; ++i) v.push_back(first + i);
  return v;
}
// Every third rank of many, or all of a few.
template <class Case>
void each_root(const tutti::communicator& world, const Case& one) {
  for (int q = 0; q < world.size(); q += (world.size() > 3 ? 3 : 1)) one(q);
}

// Makes the call `wrong`, which must throw on this rank if `refuses`. Then makes the call `right`,
// which checks its result. Repeats both three times.
template <class Wrong, class Right>
void alone(bool refuses, std::initializer_list<const char*> words, const Wrong& wrong, const Right& right,
           const std::source_location& where = std::source_location::current()) {
  for (int round = 0; round < 3; ++round) {
    if (refuses)
      check.throws<tutti::usage_error>([&] { wrong(); }, words, where);
    else
      wrong();
    right(1000 * round);
  }
}

}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
//
// Makes a call that only one rank rejects, and then a right one.
#pragma once

#include <array>
#include <atomic>
#include <vector>

#include <tutti/tutti.hpp>

#include "support/check.hpp"

namespace tests {

// For each rank of the job.
inline std::array<std::atomic<bool>, 1024> got_zeros{};

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

/// The result of `wrong` below has zeros in place of the data of the rank that rejects the call.
inline void note_zeros(const tutti::communicator& world) { got_zeros[at(world.rank())] = true; }

// Makes the call `wrong`, which must throw on this rank if `rejects`. The next call of the ranks
// that have received zeros throws, and sends nothing. Then makes the call `right`, which checks its
// result. Repeats all three times.
template <class Wrong, class Right>
void rejected_on_one_rank(const tutti::communicator& world, bool rejects,
                          std::initializer_list<const char*> words, const Wrong& wrong, const Right& right,
                          const std::source_location& where = std::source_location::current()) {
  const auto next_call = [&] { static_cast<void>(world.iprobe()); };
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool>& zeros = got_zeros[at(world.rank())];
    zeros = false;
    if (rejects)
      check.throws<tutti::usage_error>([&] { wrong(); }, words, where);
    else
      wrong();
    if (zeros && !rejects)
      check.throws<tutti::peer_error>(next_call, {"rejected its arguments", words.begin()[1]}, where);
    else
      next_call();
    right(1000 * round);
  }
}

}  // namespace tests

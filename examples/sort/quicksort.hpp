// SPDX-License-Identifier: Apache-2.0
//
// Quicksort over ranks. At each step the keys below a pivot go to the first ranks and the others to
// the rest, in even shares. Each part continues as a group of its own. The caller decides how a
// group is halved; bench/mpi/quicksort_mpi.cpp compares the ways.
//
// Source of the even shares: Axtmann, Wiebigke, Sanders, Lightweight MPI Communicators, IPDPS 2018.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <tutti/tutti.hpp>

namespace sorting {

using namespace tutti;
using key = std::uint64_t;
using keys = std::vector<key>;

// count: quicksort
template <class Halve>
void quicksort(communicator group, keys& mine, Halve halve) {
  std::mt19937 random(7);
  while (group.size() > 1) {
    const int p = group.size();
    keys sample(mine.empty() ? 0 : 3);
    for (key& k : sample) k = mine[random() % mine.size()];
    sample = group.allgatherv(send_buf(sample));
    if (sample.empty()) return;
    std::nth_element(sample.begin(), sample.begin() + sample.size() / 2, sample.end());
    const key pivot = sample[sample.size() / 2];
    // If no key is below the pivot, the keys equal to the pivot form the first part.
    auto first_large = std::partition(mine.begin(), mine.end(), [&](key k) { return k < pivot; });
    if (group.allreduce_single(send_buf(first_large != mine.begin()), op(std::logical_or<>{})) == false)
      first_large = std::partition(mine.begin(), mine.end(), [&](key k) { return k <= pivot; });
    const std::size_t small = first_large - mine.begin(), count[] = {small, mine.size() - small};
    const auto all = group.allreduce(send_buf(count), op(std::plus<>{}));
    if (all[1] == 0) break;  // all keys are equal
    const auto before = group.exscan(send_buf(count), op(std::plus<>{}));
    // The number of ranks for the small keys.
    const int low = std::clamp<int>(p * all[0] / (all[0] + all[1]), 1, p - 1);
    std::vector<std::size_t> counts(p);
    for (std::size_t i = 0; i < count[0]; ++i) ++counts[(before[0] + i) * low / all[0]];
    for (std::size_t i = 0; i < count[1]; ++i) ++counts[low + (before[1] + i) * (p - low) / all[1]];
    mine = group.alltoallv(send_buf(mine), send_counts(counts));
    group = halve(group, low);
  }
  std::sort(mine.begin(), mine.end());
}
// end

/// Returns the keys `first` .. `first` + `count` - 1 of a distribution: uniform, few distinct
/// values, one value, sorted, or powers with a long tail.
inline keys draw(int distribution, std::size_t first, std::size_t count) {
  keys drawn(count);
  for (std::size_t i = 0; i < count; ++i) {
    key k = (first + i + 1) * 0x9e3779b97f4a7c15;  // SplitMix64
    k = (k ^ k >> 30) * 0xbf58476d1ce4e5b9;
    k = (k ^ k >> 27) * 0x94d049bb133111eb;
    k ^= k >> 31;
    drawn[i] = distribution == 0   ? k
               : distribution == 1 ? k % 7
               : distribution == 2 ? 42
               : distribution == 3 ? first + i
                                   : key{1} << (k % 64);
  }
  return drawn;
}

}  // namespace sorting

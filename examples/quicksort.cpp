// SPDX-License-Identifier: Apache-2.0
//
// Quicksort over ranks: at each step the keys below a pivot go to the first ranks, the others to the rest,
// shared out evenly, and either part goes on as a group of its own. A group is made by range() without a
// message, so a step costs what it must: a scan and an exchange. By split() it is the same program, with one
// allgather more. Source of the even shares: Axtmann, Wiebigke, Sanders, Lightweight MPI Communicators, IPDPS
// 2018.
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>

#include <tutti/timer.hpp>

#include "support/checked.hpp"

namespace {

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
    // Keys equal to the pivot go where there would be nothing else.
    auto first_large = std::partition(mine.begin(), mine.end(), [&](key k) { return k < pivot; });
    if (group.allreduce_single(send_buf(first_large != mine.begin()), op(std::logical_or<>{})) == false)
      first_large = std::partition(mine.begin(), mine.end(), [&](key k) { return k <= pivot; });
    const std::size_t small = first_large - mine.begin(), count[] = {small, mine.size() - small};
    const auto all = group.allreduce(send_buf(count), op(std::plus<>{}));
    if (all[1] == 0) break;  // all are the same
    const auto before = group.exscan(send_buf(count), op(std::plus<>{}));
    const int low = std::clamp<int>(p * all[0] / (all[0] + all[1]), 1, p - 1);  // ranks for the small ones
    std::vector<std::size_t> counts(p);
    for (std::size_t i = 0; i < count[0]; ++i) ++counts[(before[0] + i) * low / all[0]];
    for (std::size_t i = 0; i < count[1]; ++i) ++counts[low + (before[1] + i) * (p - low) / all[1]];
    mine = group.alltoallv(send_buf(mine), send_counts(counts));
    group = halve(group, low);
  }
  std::sort(mine.begin(), mine.end());
}
// end

communicator by_range(const communicator& group, int low) {
  return group.rank() < low ? group.range(0, low - 1) : group.range(low, group.size() - 1);
}
communicator by_split(const communicator& group, int low) { return *group.split(group.rank() < low ? 0 : 1); }

}  // namespace

int main(int argc, char** argv) {
  return checked(argc, argv, "quicksort", [](communicator& world) {
    const std::size_t each = 4000;
    bool right = true;
    timer time(world);
    // Uniform, few different, one value, ordered already, and powers with a long tail.
    for (int distribution = 0; distribution < 5; ++distribution) {
      keys whole(each * world.size());
      std::mt19937_64 random(distribution);
      for (std::size_t i = 0; i < whole.size(); ++i) {
        const key k = random();
        whole[i] = distribution == 0   ? k
                   : distribution == 1 ? k % 7
                   : distribution == 2 ? 42
                   : distribution == 3 ? i
                                       : key{1} << (k % 64);
      }
      const keys given(whole.begin() + each * world.rank(), whole.begin() + each * (world.rank() + 1));
      std::sort(whole.begin(), whole.end());
      keys ranged = given, divided = given;
      time.start("by range");
      quicksort(world, ranged, by_range);
      time.stop();
      time.start("by split");
      quicksort(world, divided, by_split);
      time.stop();
      right = right && world.allgatherv(send_buf(ranged)) == whole &&
              world.allgatherv(send_buf(divided)) == whole;
    }
    return right;
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// The sample sort of textbooks, compared with tutti::sort_globally, which also balances equal
// elements. The sorted samples of all ranks give p - 1 splitters. Every element goes to the rank
// whose splitters enclose it.
#include <algorithm>
#include <bit>
#include <iterator>
#include <random>

#include <tutti/flatten.hpp>
#include <tutti/sort.hpp>

#include "support/checked.hpp"

namespace {

using namespace tutti;

// count: sample sort
template <class T>
void sample_sort(communicator& world, std::vector<T>& data) {
  const std::size_t p = world.size(), samples = 16 * std::bit_width(p) + 1;
  std::vector<T> sample, splitters;
  std::sample(data.begin(), data.end(), std::back_inserter(sample), samples, std::mt19937(world.rank()));
  sample = world.allgatherv(send_buf(sample));
  std::sort(sample.begin(), sample.end());
  for (std::size_t k = 1; k < p && !sample.empty(); ++k) splitters.push_back(sample[k * sample.size() / p]);
  std::vector<std::vector<T>> buckets(p);
  for (const T& x : data)
    buckets[std::upper_bound(splitters.begin(), splitters.end(), x) - splitters.begin()].push_back(x);
  data =
      flatten(buckets, world.size()).call([&](auto... flat) { return world.alltoallv(std::move(flat)...); });
  std::sort(data.begin(), data.end());
}
// end

// Returns whether the vectors of the ranks, concatenated, are equal to `right`.
bool equals_gathered(communicator& world, const std::vector<int>& mine, const std::vector<int>& right) {
  return world.allgatherv(send_buf(mine)) == right;
}

}  // namespace

int main(int argc, char** argv) {
  return checked(argc, argv, "sample_sort", [](communicator& world) {
    std::vector<int> global;
    std::mt19937 random(3);
    for (int i = 0; i < 2000 * world.size(); ++i) global.push_back(static_cast<int>(random() % 10000));
    std::vector<int> mine(global.begin() + 2000 * world.rank(), global.begin() + 2000 * (world.rank() + 1));
    std::sort(global.begin(), global.end());

    std::vector<int> by_hand = mine, by_tutti = mine, none;
    sample_sort(world, by_hand);
    tutti::sort_globally(world, by_tutti);
    sample_sort(world, none);
    return equals_gathered(world, by_hand, global) && equals_gathered(world, by_tutti, global) &&
           none.empty();
  });
}

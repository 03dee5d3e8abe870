// SPDX-License-Identifier: Apache-2.0
//
// Tests sample sort in KaMPIng's style, and KaMPIng's sort plugin. The reference sorts everything
// on every rank.
#include <algorithm>
#include <cstdint>

#include "user.hpp"

using namespace kamping;
using tests::check;

namespace {

std::vector<std::uint64_t> input_of(std::size_t rank) {
  std::vector<std::uint64_t> v(100 + 10 * rank);
  std::uint64_t state = 88172645463325252u + rank;
  for (auto& x : v) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    x = state % 1000;
  }
  return v;
}

template <class T>
void sort(const Communicator<>& comm, std::vector<T>& data) {
  const std::size_t oversampling = 16;
  std::vector<T> local_samples;
  for (std::size_t i = 0; i < oversampling; ++i)
    local_samples.push_back(data[i * data.size() / oversampling]);
  auto global_samples = comm.allgather(send_buf(local_samples));
  std::sort(global_samples.begin(), global_samples.end());
  std::vector<T> splitters;
  for (std::size_t i = 1; i < comm.size(); ++i) splitters.push_back(global_samples[i * oversampling]);
  std::vector<std::vector<T>> buckets(comm.size());
  for (const T& x : data)
    buckets[static_cast<std::size_t>(std::upper_bound(splitters.begin(), splitters.end(), x) -
                                     splitters.begin())]
        .push_back(x);
  std::vector<int> counts;
  data.clear();
  for (const auto& bucket : buckets) {
    data.insert(data.end(), bucket.begin(), bucket.end());
    counts.push_back(static_cast<int>(bucket.size()));
  }
  data = comm.alltoallv(send_buf(data), send_counts(counts));
  std::sort(data.begin(), data.end());
}

void check_sorted(const Communicator<>& comm, const std::vector<std::uint64_t>& mine, bool descending) {
  std::vector<std::uint64_t> expected;
  for (std::size_t r = 0; r < comm.size(); ++r)
    for (auto x : input_of(r)) expected.push_back(x);
  std::sort(expected.begin(), expected.end());
  if (descending) std::reverse(expected.begin(), expected.end());
  check.equal(comm.allgatherv(send_buf(mine)), expected);
}

}  // namespace

int main(int argc, char** argv) {
  return tests::as_user(argc, argv, [] {
    Communicator<std::vector, plugin::SortPlugin> comm;
    const Communicator<> plain;
    auto data = input_of(comm.rank());
    sort(plain, data);
    check_sorted(plain, data, false);

    data = input_of(comm.rank());
    comm.sort(data);
    check_sorted(plain, data, false);

    data = input_of(comm.rank());
    comm.sort(data, std::greater<>{});
    check_sorted(plain, data, true);

    const auto unsorted = input_of(comm.rank());
    std::vector<std::uint64_t> out;
    comm.sort(unsorted.begin(), unsorted.end(), std::back_inserter(out));
    check_sorted(plain, out, false);
  });
}

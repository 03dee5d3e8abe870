// SPDX-License-Identifier: Apache-2.0
//
// Runs every collective on some ranks of the world and checks the results.
#pragma once

#include <numeric>
#include <vector>

#include <tutti/tutti.hpp>

#include "support/check.hpp"
#include "support/split_oracle.hpp"

namespace tests {

/// Runs blocking collectives of every kind; `members`: ranks of the world, in order.
inline void computes(const tutti::communicator& world, const tutti::communicator& part, const ints& members) {
  using namespace tutti;
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const int n = part.size(), me = part.rank(), mine = world.rank();
  check.equal(n, static_cast<int>(members.size()));
  check.equal(members[at(me)], mine);
  const int sum = std::accumulate(members.begin(), members.end(), 0);
  const int before = std::accumulate(members.begin(), members.begin() + me, 0);
  part.barrier();
  for (int q = 0; q < n; ++q) {
    int x = mine;
    part.bcast(send_recv_buf(x), root(q));
    check.equal(x, members[at(q)]);
    check.equal(part.gather(send_buf(mine), root(q)), me == q ? members : ints{});
    check.equal(part.gatherv(send_buf(ints(at(me % 3), mine)), root(q)).size(),
                me == q ? at(n / 3 * 3 + (n % 3 == 2 ? 1 : 0)) : 0);
    const ints row = me == q ? members : ints{};
    check.equal(part.scatter(send_buf(row), root(q)), ints{mine});
    const auto total = part.reduce_single(send_buf(mine), op(std::plus<>{}), root(q));
    check.equal(total.value_or(-1), me == q ? sum : -1);
  }
  check.equal(part.allgather(send_buf(mine)), members);
  ints uneven;
  for (int r = 0; r < n; ++r) uneven.insert(uneven.end(), at(r % 3), members[at(r)]);
  check.equal(part.allgatherv(send_buf(ints(at(me % 3), mine))), uneven);
  ints row, column;
  for (const int r : members) row.push_back(1000 * mine + r), column.push_back(1000 * r + mine);
  check.equal(part.alltoall(send_buf(row)), column);
  check.equal(part.alltoallv(send_buf(row), send_counts(ints(at(n), 1))), column);
  check.equal(part.allreduce_single(send_buf(mine), op(std::plus<>{})), sum);
  const auto last = op([](int, int b) { return b; }, ops::non_commutative);
  check.equal(part.allreduce_single(send_buf(mine), last), members.back());
  check.equal(part.scan_single(send_buf(mine), op(std::plus<>{})), before + mine);
  check.equal(part.exscan_single(send_buf(mine), op(std::plus<>{}), values_on_rank_0(0)), before);
  const ints sums = part.reduce_scatter_block(send_buf(row), op(std::plus<>{}));
  check.equal(sums, ints{1000 * sum + n * mine});
  std::vector<double> large(at(30000), mine);
  part.allreduce(send_recv_buf(large), op(std::plus<>{}));
  check.equal(large.front(), sum);
  check.equal(large.back(), sum);
}

}  // namespace tests

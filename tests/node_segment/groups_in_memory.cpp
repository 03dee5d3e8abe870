// SPDX-License-Identifier: Apache-2.0
//
// Schedules on groups that are made without a message use the memory of the node. The groups are
// ranges, lists, groups within groups, and groups whose members know a few others only. Operands
// have all lengths, and several groups make calls at the same time. MPI must send no message.
#include <array>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <mpi.h>

#include "counted_sends.hpp"
#include "memory_world.hpp"
#include "support/group_kinds.hpp"

namespace {

using namespace tests;
using namespace tutti;
using ints = std::vector<int>;

// Elements of 4 bytes, up to 1 MiB.
const std::size_t all_counts[] = {0, 1, 12, 13, 500, 2048, 2049, 70'000, 262'144};

ints pattern(int rank, std::size_t n) {
  ints made(n);
  std::iota(made.begin(), made.end(), 1000 * rank);
  return made;
}

void reduce(const communicator& c, std::size_t n, const char* name) {
  const int p = c.size();
  const ints sum = c.allreduce(send_buf(pattern(c.rank(), n)), op(std::plus<>{}), algorithm(name));
  require(sum.size() == n, "a sum has another length");
  for (std::size_t i = 0; i < n; ++i)
    require(sum[i] == 1000 * (p * (p - 1) / 2) + p * static_cast<int>(i), "a sum is wrong");
}

void gather(const communicator& c, std::size_t n, const char* name) {
  const ints all = c.allgather(send_buf(pattern(c.rank(), n)), algorithm(name));
  ints expected;
  for (int r = 0; r < c.size(); ++r) {
    const ints one = pattern(r, n);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  require(all == expected, "an allgather is wrong");
}

void broadcast(const communicator& c, std::size_t n, const char* name) {
  for (int r = 0; r < c.size(); ++r) {
    ints data = c.rank() == r ? pattern(r, n) : ints(n);
    c.bcast(send_recv_buf(data), root(r), algorithm(name));
    require(data == pattern(r, n), "a bcast is wrong");
  }
}

void run_schedules(const communicator& c) {
  for (const std::size_t n : all_counts) {
    for (const char* const name : {"allreduce/ring", "allreduce/recursive_doubling"}) reduce(c, n, name);
    for (const char* const name : {"allgather/bruck", "allgather/ring"})
      gather(c, n / static_cast<std::size_t>(c.size()), name);
    for (const char* const name : {"bcast/knomial", "bcast/chain"}) broadcast(c, n, name);
  }
}

// Many short calls without a wait between them: the root runs ahead of the others.
void run_ahead(const communicator& c) {
  for (int i = 0; i < 200; ++i) {
    ints data = c.rank() == 0 ? pattern(i, 5) : ints(5);
    c.bcast(send_recv_buf(data), root(0), algorithm("bcast/linear"));
    require(data == pattern(i, 5), "bcast " + std::to_string(i) + " is wrong");
  }
}

// Nonblocking calls on several groups of the same members, which end in the reverse order.
void run_at_the_same_time(const communicator& c) {
  const communicator some[] = {c.range(0, c.size() - 1), c.range(0, c.size() - 1),
                               c.range(c.size() - 1, 0, -1)};
  for (int i = 0; i < 10; ++i) {
    std::array<ints, 6> data;
    const auto start = [&](std::size_t k) {
      const communicator& one = some[k % 3];
      data[k] = one.rank() == 0 ? pattern(static_cast<int>(k), 3000) : ints(3000);
      return one.ibcast(send_recv_buf(data[k]), root(0), algorithm("bcast/binary_pipeline"));
    };
    std::vector<decltype(start(0))> all;
    for (std::size_t k = 0; k < data.size(); ++k) all.push_back(start(k));
    for (std::size_t k = all.size(); k-- > 0;) {
      all[k].wait();
      require(data[k] == pattern(static_cast<int>(k), 3000), "a nonblocking bcast is wrong");
    }
  }
}

void run_all() {
  communicator world = adopt_for_memory();
  const int p = world.size();
  world.barrier();
  sends_of_mpi = 0;
  const communicator all = world.range(0, p - 1), reversed = world.range(p - 1, 0, -1);
  run_schedules(all);
  run_schedules(reversed);
  run_ahead(all);
  run_at_the_same_time(world);
  run_at_the_same_time(reversed);
  require_sends_of_mpi(0, "schedules");
  // Ranks 0 and 1 make calls in two groups in turn.
  if (world.rank() < 2) {
    const communicator two = all.list({1, 0}), within = two.range(1, 0, -1);
    run_schedules(within);
    run_ahead(two);
  }
  reduce(all, 100, "allreduce/ring");
  require_sends_of_mpi(0, "groups within groups");
  for (const std::string_view kind : group_kinds) {
    const communicator few = of_kind(world, kind);
    for (const std::size_t n : all_counts) {
      reduce(few, n, "allreduce/along");
      broadcast(few, n, "bcast/along");
    }
  }
  require_sends_of_mpi(0, "structures");
}

}  // namespace

int main(int argc, char** argv) { tests::run_test(argc, argv, run_all); }

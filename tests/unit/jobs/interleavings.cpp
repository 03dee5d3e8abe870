// SPDX-License-Identifier: Apache-2.0
//
// Tests the guarantees of fibers: any interleaving is right and repeatable, each fiber has its own
// exceptions, and there may be thousands of fibers.
#include <string>
#include <vector>

#include "support/check.hpp"
#include "support/seed.hpp"
#include "tutti/tutti.hpp"
#include "unit/jobs/each_engine.hpp"

namespace tests {
namespace {

using namespace tutti;

// A mixture of all kinds of calls, which must be right in any interleaving.
void mixed_workload(communicator& world) {
  const int p = world.size(), r = world.rank();
  communicator second = world.duplicate();
  for (int round = 0; round < 3; ++round) {
    std::vector<long> mine(static_cast<std::size_t>(1 + round * 7), r + round);
    auto sum = world.iallreduce(send_buf(mine), op(std::plus<>{}), algorithm("recursive_doubling"));
    auto all = second.iallgather(send_buf(r));
    std::vector<int> counts(static_cast<std::size_t>(p), 2);
    std::vector<int> words(static_cast<std::size_t>(2 * p), r);
    const auto exchanged = second.alltoallv(send_buf(words), send_counts(counts));
    const int before = world.exscan_single(send_buf(1), op(std::plus<>{}));
    int from_last = r;
    world.bcast(send_recv_buf(from_last), root(p - 1), algorithm("knomial"));
    const auto sums = sum.wait();
    const auto ranks = all.wait();
    world.barrier();
    check.equal(before, r);
    check.equal(from_last, p - 1);
    for (const long s : sums)
      check.equal(s, static_cast<long>(p) * (p - 1) / 2 + static_cast<long>(p) * round);
    for (int i = 0; i < p; ++i) {
      check.equal(ranks[static_cast<std::size_t>(i)], i);
      check.equal(exchanged[static_cast<std::size_t>(2 * i)], i);
    }
  }
}

TEST(deterministic_fibers, pass_a_thousand_interleavings) {
  for_each_seed(1, 1000, [](std::uint64_t seed) {
    EXPECT_TRUE(passes(job{"fibers", 2 + static_cast<int>(seed % 6), 0, seed}, mixed_workload));
  });
}

TEST(deterministic_fibers, repeat_an_interleaving) {
  const auto trace_of = [](std::uint64_t seed) {
    std::vector<int> trace;  // one worker: no race
    run(job{"fibers", 5, 0, seed}.options(), [&](communicator& world) {
      for (int i = 0; i < 20; ++i) {
        trace.push_back(world.rank());
        world.barrier(algorithm("dissemination"));
      }
    });
    return trace;
  };
  EXPECT_EQ(trace_of(7), trace_of(7));
  EXPECT_NE(trace_of(7), trace_of(8));
}

TEST(fibers, keep_separate_exceptions_when_switched_inside_a_catch_block) {
  EXPECT_TRUE(passes(job{"fibers", 6, 1}, [](communicator& world) {
    for (int i = 0; i < 10; ++i) {
      try {
        throw std::runtime_error("of rank " + std::to_string(world.rank()));
      } catch (const std::exception& e) {
        world.barrier();
        check.equal(std::string(e.what()), "of rank " + std::to_string(world.rank()));
        try {
          throw;
        } catch (const std::exception& again) {
          check.that(&again == &e, "another exception is in flight");
        }
      }
    }
  }));
}

TEST(fibers, run_four_thousand_ranks) {
  constexpr int ranks = 4096;
  EXPECT_TRUE(passes(job{"fibers", ranks}, [](communicator& world) {
    const long sum = world.allreduce_single(send_buf(static_cast<long>(world.rank())), op(std::plus<>{}));
    check.equal(sum, ranks * (ranks - 1L) / 2);
    const long again = world.allreduce_single(send_buf(static_cast<long>(world.rank())), op(std::plus<>{}),
                                              algorithm("recursive_doubling"));
    check.equal(again, sum);
  }));
}

}  // namespace
}  // namespace tests

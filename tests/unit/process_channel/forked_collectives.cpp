// SPDX-License-Identifier: Apache-2.0
//
// Collectives in memory, of one post, of forked processes.
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "unit/process_channel/forked_job.hpp"

namespace tutti::shm {
namespace {

void call_collectives(rank_process& me) {
  const int size = me.messages.ranks();
  test_waiter waiter;
  const auto mismatch = [](int, std::uint64_t) { throw failure("the calls differ"); };
  std::mt19937 random(7);
  for (int round = 0; round < 400; ++round) {
    const std::size_t count = std::size_t{1} << random() % 10;  // up to 4096 bytes
    const int root = static_cast<int>(random() % static_cast<unsigned>(size));
    switch (random() % 3) {
      case 0:
        me.barrier();
        break;
      case 1: {
        std::vector<std::uint64_t> data(count, me.rank() == root ? static_cast<std::uint64_t>(round) : 0);
        me.calls.bcast(data.data(), 8 * count, root, 2, waiter, mismatch);
        require(data == std::vector(count, static_cast<std::uint64_t>(round)), "a bcast is not intact");
        break;
      }
      default: {
        // Concatenation of digits shows the order of the operands.
        std::vector<std::uint64_t> data(count, static_cast<std::uint64_t>(me.rank() + 1));
        me.calls.allreduce(
            data.data(), data.data(), 8 * count, 3,
            [count](void* sum, const std::byte* operand) {
              for (std::size_t i = 0; i < count; ++i) {
                std::uint64_t one;
                std::memcpy(&one, operand + 8 * i, 8);
                auto& at = static_cast<std::uint64_t*>(sum)[i];
                at = 10 * at + one;
              }
            },
            waiter, mismatch);
        std::uint64_t expected = 0;
        for (int r = 0; r < size; ++r) expected = 10 * expected + static_cast<std::uint64_t>(r + 1);
        require(data == std::vector(count, expected), "an allreduce is not intact");
      }
    }
  }
}

TEST(node_collectives, return_the_right_results) {
  for (const int ranks : {2, 3, 8}) run_job(ranks, {}, call_collectives);
}
TEST(node_collectives, work_in_fenced_mode) { run_job(3, {.may_use_barriers = false}, call_collectives); }
TEST(node_collectives, wrap_their_sequence_numbers) {
  run_job(3, {.collective_start = ~std::uint64_t{100}}, call_collectives);
  run_job(3, {.collective_start = (std::uint64_t{1} << 32) - 100}, call_collectives);
}

TEST(node_collectives, wake_sleepers) {
  for (const bool barriers : {true, false})
    run_job(4, {.may_use_barriers = barriers}, [](rank_process& me) {
      sleeping_waiter waiter;
      for (int i = 0; i < 100; ++i) me.calls.barrier(1, waiter, [](int, std::uint64_t) {});
    });
}

TEST(node_collectives, barriers_separate) {
  run_job(4, {}, [](rank_process& me) {
    for (int i = 0; i < 300; ++i) {
      // Each rank has a message of this round from every other one after the barrier.
      for (int r = 0; r < 4; ++r)
        if (r != me.rank())
          require(me.messages.to(r).post(static_cast<std::uint64_t>(i), &i, sizeof i), "no space");
      me.barrier();
      for (int r = 0; r < 4; ++r) {
        if (r == me.rank()) continue;
        require(me.messages.from(r).find(static_cast<std::uint64_t>(i), sizeof i) != nullptr,
                "a rank has passed the barrier alone");
        me.messages.from(r).consume();
      }
    }
  });
}

TEST(node_collectives, a_root_does_not_wait_while_lines_are_free) {
  run_job(2, {}, [](rank_process& me) {
    const auto mismatch = [](int, std::uint64_t) { throw failure("the calls differ"); };
    struct impatient : process_waiter {
      impatient() : process_waiter(0) {}
      void poll() override { throw failure("the root waits"); }
      void check() override {}
    } waiter;
    test_waiter patient;
    for (std::uint64_t i = 0; i < 8; ++i) {
      std::uint64_t data = i;
      if (me.rank() == 0) {
        me.calls.bcast(&data, sizeof data, 0, 1, waiter, mismatch);
      } else {
        if (i == 0) me.recv(0, 1, 0);  // after all calls of the root
        me.calls.bcast(&data, sizeof data, 0, 1, patient, mismatch);
      }
      require(data == i, "a bcast is not intact");
    }
    if (me.rank() == 0) me.send(1, 1, {});
  });
}

}  // namespace
}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
//
// Tests ranks that throw and ranks that wait forever: every job must end with one clear error, and
// none may hang.
#include <atomic>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/contained_text.hpp"
#include "tutti/tutti.hpp"
#include "unit/jobs/each_engine.hpp"

namespace tests {
namespace {

using namespace tutti;

class a_failing_job : public each_engine {};
INSTANTIATE_TEST_SUITE_P(engines, a_failing_job, each_engine::jobs(), by_name());

TEST_P(a_failing_job, a_throwing_rank_ends_the_waits_of_the_others) {
  std::atomic<int> taken_out{0};
  int rank = -1;
  const std::string text = failure_of(
      [&](communicator& world) {
        if (world.rank() == 1) throw std::runtime_error("planted fault");
        try {
          world.barrier();
        } catch (const peer_error& e) {
          if (has(e.what(), "rank 1 failed") && has(e.what(), "planted fault")) ++taken_out;
          throw;
        }
      },
      &rank);
  EXPECT_EQ(rank, 1);
  EXPECT_TRUE(contains(text, "planted fault"));
  EXPECT_EQ(taken_out, GetParam().ranks - 1);
}

TEST_P(a_failing_job, an_exception_during_a_nonblocking_call_is_the_one_that_is_reported) {
  const std::string text = failure_of([](communicator& world) {
    std::vector<double> large(100000, 1.0);
    if (world.rank() == 1) {
      auto under_way = world.iallreduce(send_buf(large), op(std::plus<>{}), algorithm("ring"));
      throw std::runtime_error("planted fault");  // no other rank ever calls it
    }
    world.duplicate().barrier();
  });
  EXPECT_TRUE(contains(text, "planted fault"));
}

TEST_P(a_failing_job, the_exception_of_the_rank_is_nested) {
  bool nested = false;
  try {
    run(options(), [](communicator& world) {
      if (world.rank() == 0) throw std::out_of_range("mine");
      world.barrier();
    });
  } catch (const rank_error& e) {
    try {
      std::rethrow_if_nested(e);
    } catch (const std::out_of_range&) {
      nested = true;
    }
  }
  EXPECT_TRUE(nested);
}

TEST_P(a_failing_job, a_deadlock_is_reported_with_who_waits_where) {
  const std::string text = failure_of([](communicator& world) {
    if (world.rank() != 0) world.barrier();  // rank 0 returns
  });
  EXPECT_TRUE(contains(text, "deadlock"));
  EXPECT_TRUE(contains(text, "rank 0: has returned"));
  EXPECT_TRUE(contains(text, "rank 1: in barrier"));
}

TEST_P(a_failing_job, a_deadlock_in_messages_names_the_peer) {
  const std::string text = failure_of([](communicator& world) {
    std::vector<int> v(4, world.rank());
    // Rank 0 waits for a rank that is in another call.
    if (world.rank() == 0) {
      world.allreduce(send_buf(v), op(std::plus<>{}), algorithm("recursive_doubling"));
    } else {
      communicator other = world;
      other.barrier(algorithm("dissemination"));
      other.barrier(algorithm("dissemination"));
    }
  });
  EXPECT_FALSE(text.empty());
}

TEST_P(a_failing_job, a_deadlock_with_nonblocking_calls_is_reported) {
  const std::string text = failure_of([](communicator& world) {
    std::vector<int> v(4, world.rank());
    if (world.rank() != 0) world.iallreduce(send_buf(v), op(std::plus<>{})).wait();
  });
  EXPECT_TRUE(contains(text, "deadlock"));
}

}  // namespace
}  // namespace tests

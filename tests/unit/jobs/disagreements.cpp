// SPDX-License-Identifier: Apache-2.0
//
// Tests ranks whose calls do not match: the errors of checked mode, and what is detected without
// it.
#include <functional>
#include <string>
#include <vector>

#include "support/contained_text.hpp"
#include "support/scoped_variable.hpp"
#include "tutti/tutti.hpp"
#include "unit/jobs/each_engine.hpp"

namespace tests {
namespace {

using namespace tutti;

class disagreeing_ranks : public each_engine {};
INSTANTIATE_TEST_SUITE_P(engines, disagreeing_ranks, each_engine::jobs(), by_name());

TEST_P(disagreeing_ranks, checked_mode_names_who_calls_what) {
  const scoped_variable checked("TUTTI_CHECK", "1");
  const auto expect_report = [&](const std::function<void(communicator&)>& program, const std::string& first,
                                 const std::string& second) {
    const std::string text = failure_of(program);
    EXPECT_TRUE(contains(text, first));
    EXPECT_TRUE(contains(text, second));
  };
  expect_report(
      [](communicator& world) {
        std::vector<int> v(static_cast<std::size_t>(world.rank() == 1 ? 5 : 4));
        world.allreduce(send_buf(v), op(std::plus<>{}));
      },
      "rank 0 calls allreduce of 4", "rank 1 calls allreduce of 5");
  expect_report(
      [](communicator& world) {
        int x = 0;
        if (world.rank() == 1)
          world.barrier();
        else
          world.bcast(send_recv_buf(x));
      },
      "rank 0 calls bcast", "rank 1 calls barrier");
  expect_report(
      [](communicator& world) {
        int x = 0;
        world.bcast(send_recv_buf(x), root(world.rank() == 1 ? 1 : 0));
      },
      "root 0", "root 1");
}

TEST_P(disagreeing_ranks, checked_mode_compares_counts_pair_by_pair) {
  const scoped_variable checked("TUTTI_CHECK", "1");
  const auto expect_report = [&](const std::function<void(communicator&)>& program, const std::string& part) {
    const std::string text = failure_of(program);
    EXPECT_TRUE(contains(text, part));
  };
  expect_report(
      [](communicator& world) {
        std::vector<int> v(world.rank() == 1 ? 11 : 10), counts(static_cast<std::size_t>(world.size()), 10);
        world.gatherv(send_buf(v), recv_counts(counts));
      },
      "rank 1 sends 11 elements to rank 0, which expects 10");
  expect_report(
      [](communicator& world) {
        std::vector<int> counts(static_cast<std::size_t>(world.size()), 10), expected = counts;
        std::vector<int> v(static_cast<std::size_t>(10 * world.size()));
        if (world.rank() == 0) expected[1] = 9;
        world.alltoallv(send_buf(v), send_counts(counts), recv_counts(expected));
      },
      "rank 1 sends 10 elements to rank 0, which expects 9");
  expect_report(
      [](communicator& world) {
        if (world.rank() == 1)
          world.duplicate();
        else
          world.barrier();
      },
      "rank 1 calls duplicate");
  expect_report(
      [](communicator& world) {
        world.allreduce(send_buf(1), op(std::plus<>{}),
                        algorithm(world.rank() == 1 ? "ring" : "recursive_doubling"));
      },
      "rank 1 calls allreduce");
  expect_report(
      [](communicator& world) {
        if (world.rank() == 1)
          world.allreduce(send_buf(1.0f), op(std::plus<>{}));
        else
          world.allreduce(send_buf(1), op(ops::max<>{}));
      },
      "(f32), sum");
}

TEST_P(disagreeing_ranks, native_collectives_see_what_disagrees) {
  const auto text_of = [&](const std::function<void(communicator&)>& program) { return failure_of(program); };
  const auto size_for = [](communicator& world) {
    return static_cast<std::size_t>(world.rank() == 1 ? 50000 : 40000);
  };
  EXPECT_TRUE(has(text_of([&](communicator& world) {
                    std::vector<int> v(size_for(world));
                    world.allreduce(send_buf(v), op(std::plus<>{}), algorithm("native"));
                  }),
                  "this rank calls allreduce of"));
  EXPECT_TRUE(has(text_of([&](communicator& world) {
                    std::vector<int> v(size_for(world));
                    world.bcast(send_recv_buf(v), send_recv_count(static_cast<int>(v.size())),
                                algorithm("native"));
                  }),
                  "this rank calls bcast of"));
  EXPECT_TRUE(has(text_of([&](communicator& world) {
                    world.allreduce(send_buf(std::vector<int>(world.rank() == 1 ? 3 : 2)), op(std::plus<>{}),
                                    algorithm("native"));
                  }),
                  "this rank calls allreduce of"));
  EXPECT_TRUE(has(text_of([&](communicator& world) {
                    std::vector<int> counts(static_cast<std::size_t>(world.size()), 10), expected = counts;
                    std::vector<int> v(static_cast<std::size_t>(10 * world.size()));
                    if (world.rank() == 0) expected[1] = 9;
                    world.alltoallv(send_buf(v), send_counts(counts), recv_counts(expected),
                                    algorithm("native"));
                  }),
                  "rank 1 sent 40 bytes, but this rank expects 36 bytes"));
}

TEST_P(disagreeing_ranks, sizes_that_disagree_do_not_hang) {
  for (const char* name : {"recursive_doubling", "ring"}) {
    const std::string text = failure_of([&](communicator& world) {
      std::vector<int> v(static_cast<std::size_t>(world.rank() == 1 ? 500 : 400));
      world.allreduce(send_buf(v), op(std::plus<>{}), algorithm(name));
    });
    EXPECT_TRUE(contains(text, "bytes, but this rank expects"));
  }
}

}  // namespace
}  // namespace tests

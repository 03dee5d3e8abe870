// SPDX-License-Identifier: Apache-2.0
//
// Tests that a completed operation serves the next call with any schedule, without state of the
// previous one.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tutti/tutti.hpp>

namespace tutti {
namespace {

void in_turn(communicator& world, const std::vector<const char*>& gathers) {
  const int p = world.size();
  const std::vector<double> ones(1000, 1.0);
  const std::vector<int> own(static_cast<std::size_t>(world.rank() % 3), world.rank());
  const auto sum = [&] {
    const auto all =
        world.iallreduce(send_buf(ones), op(std::plus<>{}), algorithm("recursive_doubling")).wait();
    if (all != std::vector<double>(1000, p)) throw std::runtime_error("the sum is wrong");
  };
  std::vector<int> expected;
  for (int r = 0; r < p; ++r) expected.insert(expected.end(), static_cast<std::size_t>(r % 3), r);
  sum();
  for (const char* name : gathers) {
    const auto all = world.igatherv(send_buf(own), algorithm(name)).wait();
    if (world.rank() == 0 && all != expected) throw std::runtime_error(std::string(name) + " is wrong");
    sum();
  }
}

TEST(an_operation_used_again, has_the_scratch_of_its_own_schedule) {
  for (const char* engine : {"threads", "fibers"})
    for (const int p : {3, 8}) {
      run_options how;
      how.engine = engine;
      how.ranks = p;
      run(how, [](communicator& world) { in_turn(world, {"knomial", "linear", "knomial"}); });
    }
}

}  // namespace
}  // namespace tutti

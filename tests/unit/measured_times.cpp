// SPDX-License-Identifier: Apache-2.0
//
// The choice between two ways by measured time (engines/mpi/measured_times.hpp).
#include "engines/mpi/measured_times.hpp"

#include <array>
#include <cstddef>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tutti;
using namespace tutti::mpi;

constexpr std::size_t bytes = 1 << 20;

struct buffers {
  std::vector<std::byte> input = std::vector<std::byte>(8192), output = std::vector<std::byte>(8192);
  call made;
  buffers() {
    made.what = collective::alltoall;
    made.input = input.data();
    made.output = output.data();
  }
};

bool chooses_address(measured_times& t, const buffers& of) {
  const std::array<call_times, 1> all{t.of(of.made, bytes, true)};
  return is_faster_by_address(all, false);
}

// Makes calls that take these times. Returns how many went by address.
int run(measured_times& t, const buffers& of, int calls, float by_address, float in_pieces) {
  int by = 0;
  for (int i = 0; i < calls; ++i) {
    const bool chosen = chooses_address(t, of);
    by += chosen ? 1 : 0;
    t.record(of.made, bytes, chosen, chosen ? by_address : in_pieces);
  }
  return by;
}

TEST(measured_times, each_way_is_measured_before_the_faster_one_is_taken) {
  for (const bool fast : {false, true}) {
    measured_times t;
    const buffers one;
    EXPECT_EQ(run(t, one, 6, fast ? 1 : 2, fast ? 2 : 1), 3);
    EXPECT_EQ(run(t, one, 50, fast ? 1 : 2, fast ? 2 : 1), fast ? 50 : 0);
  }
}

TEST(measured_times, the_slower_way_is_measured_again) {
  measured_times t;
  const buffers one;
  run(t, one, 6, 1, 2);
  const int calls = static_cast<int>(measured_times::calls_before_new_measurement);
  EXPECT_EQ(run(t, one, calls, 1, 0.5f), calls - 6);
}

TEST(measured_times, an_interrupted_call_does_not_count) {
  measured_times t;
  const buffers one;
  run(t, one, 6, 1, 1.2f);
  t.record(one.made, bytes, true, 1000);
  EXPECT_TRUE(chooses_address(t, one));
  for (int i = 0; i < 100; ++i) t.record(one.made, bytes, true, 3);
  EXPECT_FALSE(chooses_address(t, one));
}

TEST(measured_times, calls_with_other_buffers_begin_with_what_is_known_of_their_kind) {
  measured_times t;
  const buffers one, other;
  run(t, one, 6, 1, 2);
  EXPECT_EQ(run(t, other, 3, 5, 1), 3);
  // Then their own time is known.
  EXPECT_EQ(run(t, other, 20, 5, 1), 0);
  EXPECT_EQ(run(t, one, 20, 1, 2), 20);
}

TEST(measured_times, calls_that_cannot_be_measured_take_the_default) {
  measured_times t;
  const buffers one;
  const call_times nothing = t.of(one.made, bytes, false);
  EXPECT_EQ(nothing.by_address, call_times::unknown);
  EXPECT_TRUE(is_faster_by_address(std::array{nothing, nothing}, true));
  EXPECT_FALSE(is_faster_by_address(std::array{nothing, nothing}, false));
}

TEST(measured_times, the_slowest_member_decides) {
  EXPECT_TRUE(is_faster_by_address(std::array{call_times{1, 2}, call_times{3, 4}}, false));
  EXPECT_FALSE(is_faster_by_address(std::array{call_times{1, 9}, call_times{10, 3}}, true));
  // A member without times follows the others.
  EXPECT_TRUE(is_faster_by_address(std::array{call_times{}, call_times{3, 4}}, false));
  // A measurement that a member needs comes first.
  constexpr float now = call_times::measure_now;
  EXPECT_TRUE(is_faster_by_address(std::array{call_times{9, 1}, call_times{now, now}}, false));
  EXPECT_FALSE(is_faster_by_address(std::array{call_times{1, 9}, call_times{1, now}}, true));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// The switch of the relay (tools/cluster_relay) hands over each frame when links of its rate and
// delay would. The expected times are computed by hand: at 1 Gbit/s a byte takes 8 ns.
#include "cluster_relay/shaped_switch.hpp"

#include <cstddef>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace cluster_relay;

constexpr link_limits gigabit{1e9, 100'000, 100'000};

// port, first byte and time of each frame that was handed over
using arrivals = std::vector<std::tuple<std::size_t, int, nanoseconds>>;

frame of(int name, std::size_t bytes) { return {{static_cast<std::byte>(name)}, bytes}; }

// Performs all events, each at its time.
arrivals all_of(shaped_switch& s) {
  arrivals found;
  while (const auto time = s.next()) {
    s.advance(*time, [&](std::size_t port, const frame& f) {
      found.emplace_back(port, static_cast<int>(f.content.front()), *time);
    });
  }
  return found;
}

TEST(shaped_switch, a_frame_takes_the_delay_and_its_bytes_once) {
  shaped_switch s(2, gigabit);
  s.receive(0, {1}, of(7, 1000), 5000);
  EXPECT_EQ(all_of(s), (arrivals{{1, 7, 5000 + 100'000 + 8000}}));
}

TEST(shaped_switch, hands_over_nothing_early) {
  shaped_switch s(2, gigabit);
  s.receive(0, {1}, of(7, 1000), 0);
  int count = 0;
  s.advance(107'999, [&](std::size_t, const frame&) { ++count; });
  EXPECT_EQ(count, 0);
  s.advance(108'000, [&](std::size_t, const frame&) { ++count; });
  EXPECT_EQ(count, 1);
  EXPECT_FALSE(s.next().has_value());
}

TEST(shaped_switch, frames_of_one_sender_leave_one_after_another) {
  shaped_switch s(3, gigabit);
  s.receive(0, {1}, of(1, 1000), 0);
  s.receive(0, {2}, of(2, 500), 0);
  s.receive(0, {1}, of(3, 1000), 50'000);  // the link is free again
  EXPECT_EQ(all_of(s), (arrivals{{1, 1, 108'000}, {2, 2, 112'000}, {1, 3, 158'000}}));
}

TEST(shaped_switch, frames_to_one_receiver_share_its_link) {
  shaped_switch s(3, gigabit);
  s.receive(0, {2}, of(1, 1000), 0);
  s.receive(1, {2}, of(2, 1000), 0);
  EXPECT_EQ(all_of(s), (arrivals{{2, 1, 108'000}, {2, 2, 116'000}}));
}

TEST(shaped_switch, both_directions_of_a_port_have_the_whole_rate) {
  shaped_switch s(2, gigabit);
  s.receive(0, {1}, of(1, 1000), 0);
  s.receive(1, {0}, of(2, 1000), 0);
  EXPECT_EQ(all_of(s), (arrivals{{1, 1, 108'000}, {0, 2, 108'000}}));
}

// The sender's link has a long queue. A frame of another sender comes later and arrives sooner.
TEST(shaped_switch, a_frame_that_still_waits_at_its_sender_delays_no_other) {
  shaped_switch s(3, gigabit);
  s.receive(0, {1}, of(1, 50'000), 0);
  s.receive(0, {2}, of(2, 1000), 0);
  s.receive(1, {2}, of(3, 1000), 200'000);
  EXPECT_EQ(all_of(s), (arrivals{{2, 3, 308'000}, {1, 1, 500'000}, {2, 2, 508'000}}));
}

TEST(shaped_switch, a_broadcast_occupies_its_sender_once) {
  shaped_switch s(3, gigabit);
  s.receive(0, {1, 2}, of(1, 1000), 0);
  s.receive(0, {1}, of(2, 1000), 0);
  EXPECT_EQ(all_of(s), (arrivals{{1, 1, 108'000}, {2, 1, 108'000}, {1, 2, 116'000}}));
}

TEST(shaped_switch, a_full_queue_drops_frames_until_it_has_room) {
  shaped_switch s(2, gigabit);
  for (int i = 0; i < 5; ++i) s.receive(0, {1}, of(i, 50'000), 0);
  EXPECT_EQ(s.dropped(), 2U);  // one leaves, and two more fill 100000 bytes
  s.receive(0, {1}, of(9, 50'000), 500'000);
  EXPECT_EQ(s.dropped(), 2U);
  EXPECT_EQ(all_of(s).size(), 4U);
}

TEST(shaped_switch, a_full_queue_of_the_receiver_drops_frames) {
  shaped_switch s(8, gigabit);
  for (std::size_t from = 1; from < 8; ++from) s.receive(from, {0}, of(1, 50'000), 0);
  EXPECT_EQ(all_of(s).size(), 3U);
  EXPECT_EQ(s.dropped(), 4U);
}

TEST(shaped_switch, without_delay_there_is_the_rate) {
  shaped_switch s(2, {8e9, 0, 100'000});
  s.receive(0, {1}, of(1, 1000), 10);
  EXPECT_EQ(all_of(s), (arrivals{{1, 1, 1010}}));
}

}  // namespace

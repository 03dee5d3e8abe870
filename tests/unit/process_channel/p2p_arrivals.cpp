// SPDX-License-Identifier: Apache-2.0
//
// Messages of the program over channels: they need no request, and wait in the queue of their
// communicator in the order in which they were sent.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "unit/process_channel/forked_job.hpp"

namespace tutti::shm {
namespace {

p2p_arrival& wait_for_arrival(rank_process& me, std::uint32_t communicator) {
  p2p_arrivals::queue& of = me.messages.arrivals().of(communicator);
  p2p_arrival* found = nullptr;
  test_waiter waiter;
  me.messages.wait(wait_for_message, waiter, [&] {
    me.messages.take_arrivals();
    return (found = p2p_arrivals::next(of)) != nullptr;
  });
  return *found;
}

void receive_arrival(rank_process& me, int from, std::uint32_t communicator, int tag, std::size_t bytes) {
  p2p_arrival& one = wait_for_arrival(me, communicator);
  require(one.from == from && one.channel_tag == p2p_tag(communicator, false, tag),
          "another message is first");
  const auto expected = content(static_cast<std::uint64_t>(tag), bytes);
  require(one.bytes_here == bytes && std::equal(expected.begin(), expected.end(), one.data()),
          std::to_string(bytes) + " bytes are not intact");
  me.messages.arrivals().release(one);
}

TEST(p2p_arrivals, keep_the_order_of_each_communicator) {
  for (const std::size_t by_address : {never, std::size_t{100}})
    for (const std::uint32_t cells : {0u, 1u})
      run_job(2, {.by_address_above = by_address, .start = ~20u, .cells = cells}, [](rank_process& me) {
        const std::size_t sizes[] = {0, 1, 48, 49, 64, 65, 8192, 8193, 100000};
        if (me.rank() == 0) {
          int tag = 0;
          for (const std::size_t n : sizes)
            for (const std::uint32_t c : {3u, 0x3fffffffu}) {
              me.send(1, p2p_tag(c, false, tag), content(static_cast<std::uint64_t>(tag), n));
              ++tag;
            }
        } else {
          for (const std::uint32_t c : {0x3fffffffu, 3u}) {
            int tag = c == 3 ? 0 : 1;
            for (const std::size_t n : sizes) {
              receive_arrival(me, 0, c, tag, n);
              tag += 2;
            }
          }
        }
      });
}

// Messages with a request and messages of the program pass each other.
TEST(p2p_arrivals, keep_back_no_requests) {
  run_job(2, {}, [](rank_process& me) {
    const auto data = content(7, 30000);
    if (me.rank() == 0) {
      for (int i = 0; i < 20; ++i) {
        me.send(1, p2p_tag(1, false, i), content(static_cast<std::uint64_t>(i), 20000));
        me.send(1, 5, data);
      }
    } else {
      for (int i = 0; i < 10; ++i) require(me.recv(0, 5, data.size()) == data, "a message is not intact");
      for (int i = 0; i < 20; ++i) receive_arrival(me, 0, 1, i, 20000);
      for (int i = 0; i < 10; ++i) require(me.recv(0, 5, data.size()) == data, "a message is not intact");
    }
  });
}

// A queue with messages stays, and so do all while the pieces of a message arrive.
TEST(p2p_arrivals, forget_the_queues_of_closed_communicators) {
  p2p_arrivals all;
  const auto take = [&](std::uint32_t communicator) {
    p2p_arrival* const one = p2p_arrivals::next(all.of(communicator));
    if (one != nullptr) all.release(*one);
    return one;
  };
  all.complete(all.begin(0, p2p_tag(4, false, 1), 0));
  all.of(5);
  all.close(4);
  EXPECT_EQ(all.queues(), 2u);
  EXPECT_NE(take(4), nullptr);
  p2p_arrival& incomplete = all.begin(0, p2p_tag(5, false, 1), 8);
  all.close(4);
  all.close(5);
  EXPECT_EQ(all.queues(), 2u);
  all.complete(incomplete);
  EXPECT_EQ(take(5), &incomplete);
  for (const std::uint32_t c : {5u, 4u, 4u, 9u}) all.close(c);
  EXPECT_EQ(all.queues(), 0u);
  // It is made again for a message that comes late.
  all.complete(all.begin(0, p2p_tag(5, false, 2), 0));
  EXPECT_NE(take(5), nullptr);
  EXPECT_EQ(take(4), nullptr);
}

// The sender gets its slots and cells back although no message is received.
TEST(p2p_arrivals, leave_the_ring) {
  run_job(2, {}, [](rank_process& me) {
    constexpr int count = 300;
    if (me.rank() == 0) {
      for (int i = 0; i < count; ++i)
        me.send(1, p2p_tag(9, false, i), content(static_cast<std::uint64_t>(i), 1000));
      me.send(1, 5, content(1, 8));
      me.send(1, p2p_tag(9, false, count), content(count, 8));
      me.recv(1, 6, 8);
    } else {
      test_waiter waiter;
      me.messages.wait(wait_for_message, waiter, [&] {
        me.messages.take_first_arrivals();
        return me.messages.arrivals().all().size() >= count &&
               me.messages.from(0).find(5, 8) != nullptr;  // what precedes it has left
      });
      require(me.messages.from(0).unexpected_count() == 0, "a message of the program is unexpected");
      require(me.recv(0, 5, 8) == content(1, 8), "a message is not intact");
      for (int i = 0; i <= count; ++i) receive_arrival(me, 0, 9, i, i < count ? 1000 : 8);
      require(me.messages.arrivals().all().size() <= count + 1, "messages are not reused");
      me.send(0, 6, content(2, 8));
    }
  });
}

}  // namespace
}  // namespace tutti::shm

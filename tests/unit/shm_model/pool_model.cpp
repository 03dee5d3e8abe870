// SPDX-License-Identifier: Apache-2.0
//
// All interleavings of long messages, and of the cells that they travel in: which channel gets a
// cell, and that each cell comes back. A process ends only when all cells of its pool are free.
#include <iostream>

#include "unit/shm_model/channel_ends.hpp"

namespace tutti::shm::model {
namespace {

using namespace channel;

template <class T>
void wait_for_cells(rank_process<T>& me, std::initializer_list<int> receivers) {
  me.wait(wait_for_space, [&] {
    for (const int r : receivers) me.to(r).collect_consumed();
    return me.pool().free_count() == me.pool().count();
  });
}

// Sends to several ranks at the same time.
template <class T>
void send_to_all(rank_process<T>& me, std::initializer_list<int> receivers, std::size_t bytes) {
  const auto made = rank_process<T>::content(a, bytes);
  std::array<send_request, 3> all;
  for (const int r : receivers) {
    send_request& one = all[static_cast<std::size_t>(r)];
    one.tag = a;
    one.data = made.data();
    one.bytes = bytes;
    me.to(r).start(one);
  }
  me.wait(wait_for_space, [&] {
    bool complete = true;
    for (const int r : receivers) {
      me.to(r).progress();
      complete = complete && all[static_cast<std::size_t>(r)].is_complete();
    }
    return complete;
  });
  wait_for_cells(me, receivers);
}

// A message of 60 bytes needs four cells, and the pool has one or three.
scenario longer_than_the_pool(std::uint32_t cells, options how) {
  return channels(cells,
                  {[](process& me) {
                     for (int i = 0; i < 2; ++i) me.send(1, a, i == 0 ? 60 : 20, i);
                     wait_for_cells(me, {1});
                   },
                   [](process& me) {
                     for (int i = 0; i < 2; ++i) me.recv(0, a, i == 0 ? 60 : 20, i);
                   }},
                  how);
}
TEST(pool_model, messages_are_longer_than_the_pool) {
  expect_correct("one cell", longer_than_the_pool(1, joined));
  expect_correct("three cells", longer_than_the_pool(3, joined));  // of which a channel takes two
}

TEST(pool_model, unexpected_messages_return_their_cells) {
  expect_correct("unexpected long message", channels(2,
                                                     {[](process& me) {
                                                        me.send(1, a, 40);
                                                        me.send(1, b, 16);
                                                        wait_for_cells(me, {1});
                                                      },
                                                      [](process& me) {
                                                        me.recv(0, b, 16);
                                                        me.recv(0, a, 40);
                                                      }},
                                                     polling));
}

// The receiver takes the messages in another order than they may arrive.
TEST(pool_model, two_senders_have_one_receiver) {
  const auto sender = [](process& me) {
    me.send(2, a, 40, me.rank());
    wait_for_cells(me, {2});
  };
  expect_correct("two senders", channels(2,
                                         {sender, sender,
                                          [](process& me) {
                                            me.recv(1, a, 40, 1);
                                            me.recv(0, a, 40, 0);
                                          }},
                                         joined));
}

// Rank 2 receives only after rank 1 has received. Neither channel may keep all cells.
template <class T>
scenario dependent_receivers(std::uint32_t cells, options how) {
  using one = rank_process<T>;
  return channels<T>(cells,
                     {[](one& me) {
                        send_to_all(me, {2, 1}, 24);
                      },
                      [](one& me) {
                        me.recv(0, a, 24);
                        me.send(2, b, 8);
                      },
                      [](one& me) {
                        me.recv(1, b, 8);
                        me.recv(0, a, 24);
                      }},
                     how);
}
TEST(pool_model, one_sender_has_two_receivers) {
  expect_correct("dependent receivers, one cell", dependent_receivers<small_traits>(1, joined));
  expect_correct("dependent receivers, two cells", dependent_receivers<small_traits>(2, joined));
}

TEST(pool_model, senders_of_long_messages_sleep_and_wake) {
  for (const bool fenced : {false, true}) {
    const options how{.fenced = fenced};
    expect_correct("long message asleep", channels(1,
                                                   {[](process& me) {
                                                      me.send(1, a, 24);
                                                      wait_for_cells(me, {1});
                                                    },
                                                    [](process& me) { me.recv(0, a, 24); }},
                                                   how));
  }
}

// --- Errors that the search must find

TEST(pool_model, finds_cells_that_are_returned_before_they_are_read) {
  options how = joined;
  how.reads_cell_after_credit = true;
  EXPECT_EQ(search(longer_than_the_pool(1, how)).violation, "a message is not intact");
}
TEST(pool_model, finds_channels_that_wait_for_the_cells_of_others) {
  EXPECT_EQ(search(dependent_receivers<waiting_traits>(1, joined)).violation, "deadlock");
}
TEST(pool_model, finds_senders_that_nobody_wakes) {
  for (const options& how : {options{.tso = true, .no_barrier = true},
                             options{.tso = true, .fenced = true, .no_fence_of_writer = true}})
    EXPECT_EQ(search(longer_than_the_pool(1, how)).violation, "deadlock");
}
// The receiver keeps the cell of a message that it does not consume.
TEST(pool_model, finds_cells_that_do_not_come_back) {
  EXPECT_EQ(search(channels(1,
                            {[](process& me) {
                               me.post(1, a, 16);
                               wait_for_cells(me, {1});
                             },
                             [](process& me) {
                               me.wait(wait_for_message, [&] { return me.from(0).find(a, 16) != nullptr; });
                             }},
                            polling))
                .violation,
            "deadlock");
}

}  // namespace
}  // namespace tutti::shm::model

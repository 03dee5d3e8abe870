// SPDX-License-Identifier: Apache-2.0
//
// Searches all interleavings of short programs over channels between two and three processes. Each
// message is delivered once, in order and intact. No process sleeps for ever, and no slot or cell
// is reused while it is read. The library's code has no error, so each kind of error is made on
// purpose, and the search must find it.
#include <array>
#include <iostream>

#include <gtest/gtest.h>

#include "unit/shm_model/channel_ends.hpp"

namespace tutti::shm::model {
namespace {

using namespace channel;

// With barriers and in fenced mode. The relaxed memory model has all executions of TSO.
template <class Make>
void expect_correct(const char* what, Make&& make) {
  for (const bool fenced : {false, true}) {
    options how;
    how.fenced = fenced;
    const result r = search(make(how));
    EXPECT_EQ(r.violation, "") << what << (fenced ? ", fenced" : "");
    std::cout << what << (fenced ? ", fenced: " : ": ") << r.states << " states\n";
  }
}
// For programs with too many states if the processes sleep.
template <class Make>
void expect_correct_polling(const char* what, Make&& make) {
  options how;
  how.polls = true;
  const result r = search(make(how));
  EXPECT_EQ(r.violation, "") << what << ", polling";
  std::cout << what << ", polling: " << r.states << " states\n";
}

TEST(channel_model, delivers_messages_of_each_kind_in_order) {
  const auto make = [](std::initializer_list<std::size_t> sizes) {
    return [sizes = std::vector(sizes)](options how) {
      return channels(2,
                      {[=](process& me) {
                         for (const std::size_t n : sizes) me.send(1, a, n, static_cast<int>(n) / 8);
                       },
                       [=](process& me) {
                         for (const std::size_t n : sizes) me.recv(0, a, n, static_cast<int>(n) / 8);
                       }},
                      how);
    };
  };
  expect_correct("inline", make({0, 8, 1}));
  expect_correct("inline and cells", make({8, 9}));
  expect_correct_polling("pieces", make({60}));
  expect_correct_polling("all kinds", make({16, 24, 8}));
}

TEST(channel_model, delivers_messages_without_requests) {
  expect_correct("post and find", [](options how) {
    return channels(1,
                    {[](process& me) {
                       for (int i = 0; i < 3; ++i) me.post(1, a, i == 1 ? 8 : 16, i);
                     },
                     [](process& me) {
                       for (int i = 0; i < 3; ++i) me.find(0, a, i == 1 ? 8 : 16, i);
                     }},
                    how);
  });
}

TEST(channel_model, keeps_unexpected_messages) {
  expect_correct("unexpected", [](options how) {
    return channels(1,
                    {[](process& me) {
                       me.send(1, a, 24);
                       me.send(1, b, 8);
                     },
                     [](process& me) {
                       me.recv(0, b, 8);
                       me.recv(0, a, 24);
                     }},
                    how);
  });
}

TEST(channel_model, answers) {
  expect_correct("ping-pong", [](options how) {
    return channels(1,
                    {[](process& me) {
                       for (int i = 0; i < 2; ++i) me.send(1, a, 8, i), me.recv(1, b, 16, i);
                     },
                     [](process& me) {
                       for (int i = 0; i < 2; ++i) me.recv(0, a, 8, i), me.send(0, b, 16, i);
                     }},
                    how);
  });
}

TEST(channel_model, wraps_its_sequence_numbers) {
  expect_correct("wrap", [](options how) {
    return channels(1,
                    {[](process& me) {
                       for (int i = 0; i < 3; ++i) me.post(1, a, 8, i);
                     },
                     [](process& me) {
                       for (int i = 0; i < 3; ++i) me.find(0, a, 8, i);
                     }},
                    how, ~std::uint32_t{1});
  });
}

// The sender reuses its memory when a message by address is complete.
void send_by_address(process& me, int r, std::uint64_t tag, std::byte* data, bool reuse) {
  const auto made = process::content(tag, 24);
  store(data, made.data(), 24, store_kind::plain);
  me.to(r).set_by_address_above(16);
  send_request request{tag, data, 24};
  me.to(r).start(request);
  me.finish(r, request);
  if (!reuse) return;
  const std::array<std::byte, 24> other{};
  store(data, other.data(), 24, store_kind::plain);
}

scenario by_address_scenario(options how) {
  const layout<small_traits> l{2, 2};
  return channels(2,
                  {[=](process& me) {
                     send_by_address(me, 1, a, shared + l.data(0), true);
                     me.send(1, b, 8);
                   },
                   [=](process& me) {
                     me.from(0).permit_reads(true);
                     me.recv(0, a, 24);
                     me.recv(0, b, 8);
                   }},
                  how);
}

TEST(channel_model, reads_by_address) {
  expect_correct("by address", [](options how) { return by_address_scenario(how); });
}

TEST(channel_model, sends_again_what_could_not_be_read) {
  expect_correct_polling("refused", [](options how) {
    how.refuse_remote_reads = true;
    return by_address_scenario(how);
  });
}

// Rank 0 has one cell. It sends to rank 1 and to rank 2 at the same time. Rank 1 takes its message
// only after one from rank 2, and rank 2 sends that one only after it has received.
template <class T>
scenario exhausted_pool(options how) {
  using one = rank_process<T>;
  return channels<T>(1,
                     {[](one& me) {
                        const auto first = one::content(a, 16), second = one::content(b, 12);
                        send_request to_1{a, first.data(), 16}, to_2{b, second.data(), 12};
                        me.to(1).start(to_1);
                        me.to(2).start(to_2);
                        me.wait(wait_for_space, [&] {
                          me.to(1).progress();
                          me.to(2).progress();
                          return to_1.is_complete() && to_2.is_complete();
                        });
                      },
                      [](one& me) {
                        me.recv(2, a, 8);
                        me.recv(0, a, 16);
                      },
                      [](one& me) {
                        me.recv(0, b, 12);
                        me.post(1, a, 8);
                      }},
                     how);
}

TEST(channel_model, an_exhausted_pool_blocks_no_other_channel) {
  expect_correct_polling("exhausted pool", [](options how) { return exhausted_pool<small_traits>(how); });
}

// --- Errors that the search must find

template <class Make>
void expect_violation(const char* expected, options how, Make&& make) {
  EXPECT_EQ(search(make(how)).violation, expected);
}

scenario three_messages(options how) {
  return channels(1,
                  {[](process& me) {
                     for (int i = 0; i < 3; ++i) me.send(1, a, 16, i);
                   },
                   [](process& me) {
                     for (int i = 0; i < 3; ++i) me.recv(0, a, 16, i);
                   }},
                  how);
}
scenario short_messages(options how) {
  return channels(1,
                  {[](process& me) {
                     for (int i = 0; i < 3; ++i) me.post(1, a, 8, i);
                   },
                   [](process& me) {
                     for (int i = 0; i < 3; ++i) me.find(0, a, 8, i);
                   }},
                  how);
}

TEST(channel_model, three_messages_in_one_cell_are_correct) {
  expect_correct_polling("three messages", [](options how) { return three_messages(how); });
  expect_correct("short messages", [](options how) { return short_messages(how); });
}

TEST(channel_model, finds_a_sequence_number_that_precedes_its_payload) {
  expect_violation("a message is not intact", {.publish_is_relaxed = true}, short_messages);
  // Under TSO the order of the stores is that of the program, so this error has no effect.
  expect_violation("", {.tso = true, .publish_is_relaxed = true}, short_messages);
}

TEST(channel_model, finds_a_cell_that_is_returned_before_it_is_read) {
  expect_violation("a message is not intact", {.tso = true, .reads_cell_after_credit = true}, three_messages);
  expect_violation("a message is not intact", {.fenced = true, .reads_cell_after_credit = true},
                   three_messages);
}

TEST(channel_model, finds_a_sleeper_that_does_not_test_again) {
  expect_violation("deadlock", {.tso = true, .sleeps_without_recheck = true}, short_messages);
  expect_violation("deadlock", {.fenced = true, .sleeps_without_recheck = true}, short_messages);
}

TEST(channel_model, finds_a_missing_barrier) {
  expect_violation("deadlock", {.tso = true, .no_barrier = true}, short_messages);
  expect_violation("deadlock", {.tso = true, .fenced = true, .no_barrier = true}, short_messages);
  expect_violation("deadlock", {.tso = true, .fenced = true, .no_fence_of_writer = true}, short_messages);
}

TEST(channel_model, finds_the_deadlock_of_a_sender_that_waits_for_any_cell) {
  expect_violation("deadlock", {.polls = true}, exhausted_pool<waiting_traits>);
}

TEST(channel_model, finds_memory_that_is_reused_before_it_is_read) {
  expect_violation("a message is not intact", {.polls = true, .reads_remote_after_acknowledgement = true},
                   [](options how) { return by_address_scenario(how); });
}

}  // namespace
}  // namespace tutti::shm::model

// SPDX-License-Identifier: Apache-2.0
//
// All interleavings of messages of the program, which arrive without a request (p2p_arrivals.hpp),
// between messages of schedules, which need one. Announced messages wait for a grant of their
// receiver. The model takes these steps itself, as engines/mpi/node_p2p.cpp does.
#include <iostream>

#include "unit/shm_model/channel_ends.hpp"

namespace tutti::shm::model {
namespace {

using namespace channel;

constexpr std::uint64_t schedule = 5;  // a tag

std::uint64_t contents_tag(std::uint32_t number) { return tag_of(message_kind::contents, number); }
template <class P>
P contents_of(p2p_arrival& one) {
  P made;
  std::memcpy(&made, one.data(), sizeof made);
  return made;
}

// Posts a message of the program. Its content depends on the program's tag.
void post(auto& me, int to, std::uint32_t communicator, int tag, std::size_t bytes) {
  const auto made = process::content(static_cast<std::uint64_t>(tag), bytes);
  me.wait(wait_for_space,
          [&] { return me.to(to).post(p2p_tag(communicator, false, tag), made.data(), bytes); });
}
// Takes messages from the ring: all, or those that no other message precedes.
void take(auto& me, int from, bool all) {
  if (all)
    me.from(from).take_arrivals();
  else
    me.from(from).take_first_arrivals();
}
void expect_next(auto& me, int from, std::uint32_t communicator, int tag, std::size_t bytes,
                 bool all = true) {
  p2p_arrivals::queue& queue = me.arrivals().of(communicator);
  p2p_arrival* one = nullptr;
  me.wait(wait_for_message, [&] {
    take(me, from, all);
    return (one = p2p_arrivals::next(queue)) != nullptr;
  });
  require(one->channel_tag == p2p_tag(communicator, false, tag) && one->from == from,
          "a message is out of order");
  const auto made = process::content(static_cast<std::uint64_t>(tag), bytes);
  require(one->bytes_here == bytes && std::memcmp(one->data(), made.data(), bytes) == 0,
          "a message is not intact");
  me.arrivals().release(*one);
}

// --- announced messages

struct announced_send {
  int to;
  std::uint32_t number;
  std::array<std::byte, 64> data;
  send_request contents;
  bool announced = false, granted = false, discarded = false;
};
void announce(auto& me, announced_send& s, std::size_t bytes) {
  s.data = process::content(a, bytes);
  s.contents.tag = contents_tag(s.number);
  s.contents.data = s.data.data();
  s.contents.bytes = bytes;
  const p2p_announcement what{bytes, s.number};
  s.announced = s.announced || me.to(s.to).post(p2p_tag(1, true, 0), &what, sizeof what);
}
// Continues a send. `all`: also takes grants behind messages without a receive.
bool advance(auto& me, announced_send& s, std::size_t bytes, bool all) {
  if (!s.announced) announce(me, s, bytes);
  me.to(s.to).progress();
  take(me, s.to, all);
  while (p2p_arrival* const one = p2p_arrivals::next(me.arrivals().grants())) {
    const auto g = contents_of<p2p_grant>(*one);
    me.arrivals().release(*one);
    require(g.number == s.number && !s.granted, "a grant is not expected");
    s.granted = true;
    s.discarded = g.discards != 0;
    if (!s.discarded) me.to(s.to).start(s.contents);
  }
  return s.discarded || (s.granted && s.contents.is_complete());
}
struct announced_receive {
  announced_receive(int sender, bool drops) : from(sender), discards(drops) {}

  int from;
  bool discards;
  bool matched = false, granted = false;
  p2p_grant grant{};
  std::size_t bytes = 0;
  std::array<std::byte, 64> target{};
  recv_request contents;
};
bool advance(auto& me, announced_receive& r, bool all) {
  take(me, r.from, all);
  if (!r.matched) {
    p2p_arrival* const one = p2p_arrivals::next(me.arrivals().of(1));
    if (one == nullptr) return false;
    const auto what = contents_of<p2p_announcement>(*one);
    me.arrivals().release(*one);
    r.matched = true;
    r.bytes = what.bytes;
    r.grant = {what.number, r.discards ? 1u : 0u};
    r.contents.tag = contents_tag(what.number);
    r.contents.target = r.target.data();
    r.contents.capacity = r.target.size();
    if (!r.discards) me.from(r.from).start(r.contents);
  }
  r.granted = r.granted || me.to(r.from).post(tag_of(message_kind::grant, 0), &r.grant, sizeof r.grant);
  if (!r.granted || r.discards) return r.granted;
  me.from(r.from).progress();
  if (!r.contents.is_complete()) return false;
  require(r.contents.bytes == r.bytes && r.target == process::content(a, r.bytes), "a message is not intact");
  return true;
}
constexpr std::uint32_t all_reasons = wait_for_message | wait_for_space;

// The message of the schedule is between those of the program. All of them fit in the ring twice.
scenario between_messages(options how) {
  return channels(2,
                  {[](auto& me) {
                     post(me, 1, 1, 2, 8);
                     me.send(1, schedule, 8);
                     post(me, 1, 2, 3, 16);
                     post(me, 1, 1, 4, 8);
                   },
                   [](auto& me) {
                     me.recv(0, schedule, 8);
                     expect_next(me, 0, 1, 2, 8);
                     expect_next(me, 0, 1, 4, 8);
                     expect_next(me, 0, 2, 3, 16);
                   }},
                  how);
}
TEST(arrivals_model, messages_of_the_program_block_no_other) {
  expect_correct("between messages", between_messages(polling));
}
TEST(arrivals_model, receivers_sleep_and_wake) {
  for (const bool fenced : {false, true})
    expect_correct("arrivals asleep", channels(2,
                                               {[](auto& me) {
                                                  post(me, 1, 1, 2, 8);
                                                  post(me, 1, 1, 3, 16);
                                                },
                                                [](auto& me) {
                                                  expect_next(me, 0, 1, 2, 8);
                                                  expect_next(me, 0, 1, 3, 16);
                                                }},
                                               {.fenced = fenced}));
}

struct wider_traits : small_traits {
  static constexpr std::uint32_t slot_count = 4;
};

// The receiver takes only messages that no other precedes, until the ring of two slots is full.
template <class T = small_traits>
scenario behind_a_schedule(options how, int before, bool all) {
  return channels<T>(2,
                     {[=](auto& me) {
                        for (int i = 0; i < before; ++i) me.send(1, schedule, 8, i);
                        post(me, 1, 1, 2, 8);
                        post(me, 1, 1, 3, 8);
                      },
                      [=](auto& me) {
                        expect_next(me, 0, 1, 2, 8, all);
                        expect_next(me, 0, 1, 3, 8, all);
                        for (int i = 0; i < before; ++i) me.recv(0, schedule, 8, i);
                      }},
                     how);
}
TEST(arrivals_model, a_full_ring_is_emptied) {
  expect_correct("one message before", behind_a_schedule(polling, 1, false));
  expect_correct("two messages before", behind_a_schedule(joined, 2, true));
}

template <class T = small_traits>
scenario announced(options how, bool discards, bool all, bool schedule_first) {
  return channels<T>(2,
                     {[=](auto& me) {
                        announced_send s{1, 7, {}, {}};
                        me.wait(all_reasons, [&] { return advance(me, s, 24, all); });
                        require(s.discarded == discards, "the send has another end");
                        if (schedule_first) me.recv(1, schedule, 8);
                      },
                      [=](auto& me) {
                        if (schedule_first) me.send(0, schedule, 8);
                        announced_receive r(0, discards);
                        me.wait(all_reasons, [&] { return advance(me, r, true); });
                      }},
                     how);
}
// Both ranks send and receive an announced message.
scenario crossed(options how) {
  const auto exchange = [](auto& me) {
    const int other = 1 - me.rank();
    announced_send s{other, static_cast<std::uint32_t>(3 + me.rank()), {}, {}};
    announced_receive r(other, false);
    bool sent = false, received = false;
    me.wait(all_reasons, [&] {
      sent = sent || advance(me, s, 24, true);
      received = received || advance(me, r, true);
      return sent && received;
    });
  };
  return channels(2, {exchange, exchange}, how);
}
TEST(arrivals_model, announced_messages_wait_for_their_grant) {
  expect_correct("announced", announced(polling, false, false, false));
  expect_correct("discarded", announced(polling, true, false, false));
  expect_correct("behind a schedule", announced(polling, true, true, true));
  expect_correct("crossed", crossed(joined));
}
TEST(arrivals_model, granted_senders_sleep_and_wake) {
  for (const bool fenced : {false, true})
    expect_correct("discarded asleep", announced({.fenced = fenced}, true, false, false));
}

// --- Errors that the search must find

TEST(arrivals_model, finds_messages_behind_others_in_a_ring_with_space) {
  EXPECT_EQ(search(behind_a_schedule<wider_traits>(polling, 1, false)).violation, "deadlock");
}
// A full ring would be emptied.
TEST(arrivals_model, finds_grants_behind_other_messages) {
  EXPECT_EQ(search(announced<wider_traits>(polling, true, true, true)).violation, "");
  EXPECT_EQ(search(announced<wider_traits>(polling, true, false, true)).violation, "deadlock");
}
TEST(arrivals_model, finds_messages_that_precede_their_contents) {
  options how = polling;
  how.publish_is_relaxed = true;
  EXPECT_NE(search(between_messages(how)).violation, "");
  how = polling;
  how.reads_cell_after_credit = true;
  EXPECT_EQ(search(announced(how, false, false, false)).violation, "a message is not intact");
}
TEST(arrivals_model, finds_senders_that_nobody_wakes) {
  for (const options& how : {options{.tso = true, .no_barrier = true},
                             options{.tso = true, .fenced = true, .no_fence_of_writer = true}})
    EXPECT_EQ(search(announced(how, true, false, false)).violation, "deadlock");
}

}  // namespace
}  // namespace tutti::shm::model

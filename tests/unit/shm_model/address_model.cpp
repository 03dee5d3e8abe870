// SPDX-License-Identifier: Apache-2.0
//
// All interleavings of calls by address of two and three processes. address_members.hpp has their
// members, and the errors that the search must find.
#include <iostream>

#include <gtest/gtest.h>

#include "unit/shm_model/address_members.hpp"

namespace tutti::shm::model {
namespace {

using namespace by_address;

template <class Program>
scenario of(int size, options how, fault what, Program&& program, std::uint64_t start = 0) {
  const layout l{size};
  scenario s;
  s.how = how;
  s.memory_bytes = l.bytes();
  EXPECT_LE(s.memory_bytes, sizeof shared);
  s.writers = l.writers();
  cells_begin = cells_end = nullptr;
  for (int i = 0; i < size; ++i)
    s.processes.push_back([=] {
      member me(l, i, what, start);
      program(me);
    });
  s.prepare = [=] {
    for (int i = 0; i < l.size; ++i) {
      alignas(128) std::byte initial[block_bytes] = {};
      calls_with_faults::start_at(initial, slot_bytes, start);
      store(shared + l.block(i), initial, sizeof initial, store_kind::plain);
    }
  };
  // Each part that an owner has sent has been received.
  s.at_end = [l](const std::byte* memory) {
    const auto word = [memory](std::size_t at) {
      std::uint32_t w;
      std::memcpy(&w, memory + at, sizeof w);
      return w;
    };
    for (int from = 0; from < l.size; ++from)
      for (int to = 0; to < l.size; ++to) {
        const std::size_t at = l.channel(from, to);
        const std::uint32_t consumed = word(at + offsetof(lines, consumed));
        require(word(at + sizeof(process_slot) * (consumed % small_channels::slot_count)) != consumed + 1,
                "nobody receives a part");
      }
  };
  return s;
}

template <class Program>
void expect_correct(const char* what, int size, const options& how, Program&& program) {
  const result r = search(of(size, how, fault::none, program));
  EXPECT_EQ(r.violation, "") << what;
  std::cout << what << " of " << size << (how.fenced ? ", fenced" : "") << ": " << r.states << " states\n";
}
// With barriers and in fenced mode.
template <class Program>
void expect_correct_asleep(const char* what, options how, Program&& program) {
  for (const bool fenced : {false, true}) {
    how.fenced = fenced;
    expect_correct(what, 2, how, program);
  }
}
// Longer programs need more reductions. The members of most do not sleep.
constexpr options polling{.polls = true, .prompt = true};
constexpr options refusing{.polls = true, .prompt = true, .may_refuse_remote_reads = true};
constexpr options refusing_joined{
    .tso = true, .polls = true, .prompt = true, .joined = true, .may_refuse_remote_reads = true};
using what = collective;
using requests = std::vector<member::request>;

auto one_by_one(const requests& calls) {
  return [calls](member& me) { me.one_by_one(calls); };
}
auto overlapping(const requests& calls) {
  return [calls](member& me) { me.overlapping(calls); };
}

TEST(address_model, lines_and_words_are_used_again) {
  expect_correct("four bcasts from both", 2, polling,
                 one_by_one({{what::bcast, 0}, {what::bcast, 1}, {what::bcast, 1}, {what::bcast, 0}}));
  expect_correct("scatter, then bcast", 3, polling, one_by_one({{what::scatter, 0}, {what::bcast, 1}}));
  expect_correct("three allgathers", 2, polling,
                 one_by_one({{what::allgather}, {what::alltoall}, {what::allgather}}));
}
TEST(address_model, wraps_its_sequence_numbers) {
  const requests calls{{what::bcast, 0}, {what::bcast, 1}, {what::bcast, 0}};
  const result r = search(of(2, polling, fault::none, one_by_one(calls), ~std::uint64_t{1}));
  EXPECT_EQ(r.violation, "");
  std::cout << "wrap: " << r.states << " states\n";
}
TEST(address_model, a_call_has_two_rounds) {
  expect_correct("allreduce", 2, polling, one_by_one({{what::allreduce, 0, 2}}));
  expect_correct("allreduce in place", 2, polling, one_by_one({{what::allreduce, 0, 2, true}}));
  expect_correct("allreduce in pieces", 2, polling, one_by_one({{what::allreduce, 0, 3, true}}));
}
TEST(address_model, calls_overlap) {
  expect_correct("allgather and bcast overlap", 2, polling,
                 overlapping({{what::allgather}, {what::bcast, 1}}));
  expect_correct("three bcasts overlap", 2, polling,
                 overlapping({{what::bcast, 0}, {what::bcast, 1}, {what::bcast, 0}}));
  expect_correct("allreduce and bcast overlap", 2, polling,
                 overlapping({{what::allreduce, 0, 2, true}, {what::bcast, 0}}));
}
TEST(address_model, members_sleep_and_wake) {
  expect_correct_asleep("bcast asleep", {}, one_by_one({{what::bcast, 0}}));
  expect_correct_asleep("allgather asleep", {}, one_by_one({{what::allgather}}));
  expect_correct_asleep("two bcasts asleep", {.plain_loads_join = true},
                        one_by_one({{what::bcast, 0}, {what::bcast, 1}}));
  expect_correct_asleep("two overlapping bcasts asleep, prompt", {.prompt = true},
                        overlapping({{what::bcast, 0}, {what::bcast, 1}}));
}
// This finds a wake-up that nobody makes, but no missing barrier.
constexpr options asleep{.tso = true, .prompt = true, .joined = true};
TEST(address_model, three_members_sleep_and_wake) {
  expect_correct("bcast asleep", 3, asleep, one_by_one({{what::bcast, 0}}));
  expect_correct("scatter asleep", 3, asleep, one_by_one({{what::scatter, 0}}));
}
TEST(address_model, members_that_cannot_read_sleep_and_wake) {
  expect_correct_asleep("bcast asleep, refusing", {.may_refuse_remote_reads = true},
                        one_by_one({{what::bcast, 0}}));
}
TEST(address_model, the_kernel_refuses_any_read) {
  expect_correct("two bcasts, refusing", 2, refusing, one_by_one({{what::bcast, 0}, {what::bcast, 1}}));
  expect_correct("allgather, refusing", 2, refusing, one_by_one({{what::allgather}}));
}
TEST(address_model, the_kernel_refuses_reads_of_many_calls) {
  expect_correct("two overlapping bcasts, refusing", 2, refusing_joined,
                 overlapping({{what::bcast, 0}, {what::bcast, 0}}));
  expect_correct("bcasts from both overlap, refusing", 2, refusing_joined,
                 overlapping({{what::bcast, 0}, {what::bcast, 1}}));
  expect_correct("bcast of three, refusing", 3, refusing_joined, one_by_one({{what::bcast, 0}}));
  expect_correct("allgathers, refusing", 2, refusing_joined,
                 one_by_one({{what::allgather}, {what::allgather}}));
}
TEST(address_model, the_kernel_refuses_reads_of_operands) {
  expect_correct("allreduce, refusing", 2, refusing_joined, one_by_one({{what::allreduce, 0, 2}}));
  expect_correct("allreduce in pieces, refusing", 2, refusing_joined,
                 one_by_one({{what::allreduce, 0, 3, true}}));
  expect_correct("long bcast, refusing", 2, refusing_joined, one_by_one({{what::bcast, 0, 3}}));
}

// --- Errors that the search must find

template <class Program>
void expect_violation(const char* expected, const options& how, fault what, Program&& program) {
  EXPECT_EQ(search(of(2, how, what, program)).violation, expected);
}

TEST(address_model, finds_owners_that_do_not_wait) {
  expect_violation("a result is not intact", polling, fault::owner_does_not_wait,
                   one_by_one({{what::bcast, 0}}));
}
TEST(address_model, finds_reads_that_follow_their_acknowledgement) {
  options how = polling;
  how.reads_remote_after_acknowledgement = true;
  expect_violation("a result is not intact", how, fault::none, one_by_one({{what::bcast, 0}}));
}
TEST(address_model, finds_an_address_that_follows_its_post) {
  options how = polling;
  how.publish_is_relaxed = true;
  expect_violation("the calls differ", how, fault::none, one_by_one({{what::bcast, 0}}));
}
TEST(address_model, finds_readers_that_request_no_messages) {
  options how = polling;
  how.refuse_remote_reads = true;
  expect_violation("deadlock", how, fault::requests_nothing, one_by_one({{what::bcast, 0}}));
}
TEST(address_model, finds_owners_that_send_no_messages) {
  expect_violation("deadlock", refusing, fault::requests_of_later_calls, one_by_one({{what::bcast, 0}}));
}
TEST(address_model, finds_messages_of_finished_calls) {
  expect_violation("nobody receives a part", refusing_joined, fault::requests_of_any_call,
                   overlapping({{what::bcast, 0}, {what::bcast, 0}}));
}
TEST(address_model, finds_sleepers_that_nobody_wakes) {
  const auto bcast = one_by_one({{what::bcast, 0}});
  expect_violation("deadlock", {.tso = true, .sleeps_without_recheck = true}, fault::none, bcast);
  expect_violation("deadlock", {.tso = true, .no_barrier = true}, fault::none, bcast);
  expect_violation("deadlock", {.tso = true, .fenced = true, .no_fence_of_writer = true}, fault::none, bcast);
}

}  // namespace
}  // namespace tutti::shm::model

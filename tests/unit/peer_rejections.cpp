// SPDX-License-Identifier: Apache-2.0
//
// Tests the list of rejections of one rank: when one is due, and what the word of the rank holds.
#include "communicator/peer_rejections.hpp"

#include <cstdlib>
#include <new>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

using tutti::detail::peer_rejections;
using tutti::detail::rejection;
using tutti::detail::rejection_state;
namespace shm = tutti::shm;

namespace {
thread_local bool out_of_memory = false;
}

// While `out_of_memory` is set, this thread gets no memory.
void* operator new(std::size_t bytes) {
  if (!out_of_memory)
    if (void* const memory = std::malloc(bytes == 0 ? 1 : bytes); memory != nullptr) return memory;
  throw std::bad_alloc();
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace {

struct peer_rejections_test : testing::Test {
  shm::rank_identity self{3};
  peer_rejections::word word{nullptr};
  peer_rejections list{word};

  peer_rejections_test() { list.run_by(&self); }
  static rejection of(std::uint64_t context, std::uint32_t call, int rank = 1) {
    return {context, call, rank, "error"};
  }
  // This rank is rank 5 of contexts 1 and 2. It has begun the calls of context 1 before `next`, and
  // none of context 2. It is in no other group.
  static auto state_before(std::uint32_t next) {
    return [next](const rejection& r) {
      if (r.context > 2) return rejection_state::other_group;
      if (r.context != 1 || r.call >= next) return rejection_state::later;
      return r.first <= 5 && 5 < r.end ? rejection_state::due : rejection_state::other_rank;
    };
  }
  auto due(std::uint32_t next) { return list.take_due(state_before(next)); }
};

TEST_F(peer_rejections_test, without_any_the_word_names_the_running_thread) {
  EXPECT_EQ(word.load(), &self);
  EXPECT_FALSE(due(100));
  EXPECT_EQ(word.load(), &self);
}

TEST_F(peer_rejections_test, is_due_when_its_call_has_begun) {
  list.deliver(of(1, 7));
  EXPECT_EQ(word.load(), &shm::rejecting_identity);
  EXPECT_FALSE(due(7));
  EXPECT_EQ(word.load(), &shm::rejecting_identity);
  const auto found = due(8);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(found->text, "error");
  EXPECT_EQ(word.load(), &self);
  EXPECT_FALSE(due(9));
}

TEST_F(peer_rejections_test, several_of_one_call_are_reported_once) {
  list.deliver(of(1, 7, 4));
  list.deliver(of(1, 7, 2));
  list.deliver(of(1, 9, 5));
  const auto found = due(8);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 4);
  EXPECT_EQ(word.load(), &shm::rejecting_identity) << "the call 9 has not begun";
  EXPECT_EQ(due(10)->rank, 5);
  EXPECT_EQ(word.load(), &self);
}

TEST_F(peer_rejections_test, a_call_that_this_rank_rejects_is_ignored) {
  list.deliver(of(1, 7));
  list.deliver(of(2, 7));
  list.reject(1, 7);
  list.deliver(of(1, 7, 2));
  EXPECT_FALSE(due(100));
  EXPECT_EQ(word.load(), &shm::rejecting_identity) << "the call of context 2 has not begun";
  list.reject(2, 7);
  EXPECT_EQ(word.load(), &self);
}

TEST_F(peer_rejections_test, one_that_comes_after_another_of_its_call_was_thrown_is_ignored) {
  list.deliver(of(1, 7, 4));
  EXPECT_TRUE(due(8));
  list.deliver(of(1, 7, 2));
  EXPECT_EQ(word.load(), &self);
}

TEST_F(peer_rejections_test, of_a_call_whose_zeros_go_to_other_ranks_is_dropped) {
  rejection to_others = of(1, 7);
  to_others.first = 6;
  list.deliver(to_others);
  EXPECT_FALSE(due(8));
  EXPECT_EQ(word.load(), &self);
}

TEST_F(peer_rejections_test, of_another_group_costs_nothing_and_waits_until_the_group_is_made) {
  list.deliver(of(9, 0));
  list.deliver(of(8, 0));
  EXPECT_FALSE(due(100));
  EXPECT_EQ(word.load(), &self);
  list.note_group(7);
  EXPECT_EQ(word.load(), &self);
  list.note_group(9);
  EXPECT_EQ(word.load(), &shm::rejecting_identity);
  const auto found = list.take_due([](const rejection& r) {
    EXPECT_EQ(r.context, 9u);
    return rejection_state::due;
  });
  EXPECT_TRUE(found);
  EXPECT_EQ(word.load(), &self);
}

TEST_F(peer_rejections_test, is_due_after_its_context_has_ended) {
  list.deliver(of(1, 7));
  list.deliver(of(1, 9));
  list.end_context(1, state_before(8));
  const auto found = list.take_due([](const rejection&) { return rejection_state::later; });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 1);
  EXPECT_EQ(word.load(), &self) << "the call 9 has not begun, so its rejection is dropped";
}

TEST_F(peer_rejections_test, that_there_is_no_memory_for_is_due_without_its_text) {
  const rejection one = of(1, 7, 4), other = of(1, 8, 3);
  out_of_memory = true;
  list.deliver(one);
  list.deliver(other);
  out_of_memory = false;
  EXPECT_EQ(word.load(), &shm::rejecting_identity);
  const auto found = due(0);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 4);
  EXPECT_EQ(found->text, "");
  EXPECT_EQ(word.load(), &self);
  EXPECT_FALSE(due(100));
}

TEST_F(peer_rejections_test, a_run_that_has_ended_keeps_its_word) {
  word = &shm::ended_run_identity;
  list.deliver(of(1, 7));
  EXPECT_EQ(word.load(), &shm::ended_run_identity);
}

TEST_F(peer_rejections_test, any_thread_may_run_the_rank) {
  list.run_by(nullptr);
  list.deliver(of(1, 7));
  EXPECT_EQ(word.load(), &shm::rejecting_identity);
  EXPECT_TRUE(due(8));
  EXPECT_EQ(word.load(), nullptr);
}

TEST_F(peer_rejections_test, many_threads_deliver) {
  std::vector<std::thread> senders;
  for (int t = 0; t < 4; ++t)
    senders.emplace_back([&, t] {
      for (std::uint32_t i = 0; i < 1000; ++i)
        list.deliver(of(1, 1000 * static_cast<std::uint32_t>(t) + i, t));
    });
  int taken = 0;
  for (std::uint32_t next = 1; next <= 4000; ++next) taken += due(next).has_value();
  for (std::thread& one : senders) one.join();
  taken += due(4000).has_value();
  EXPECT_GT(taken, 0);
  EXPECT_FALSE(due(5000));
  EXPECT_EQ(word.load(), &self);
}

}  // namespace

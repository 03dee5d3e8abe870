// SPDX-License-Identifier: Apache-2.0
//
// All interleavings of groups that use the same memory one after the other. enter(), blocks() and
// leave() are those of the library. A mutex protects them. So enter() with blocks() is one step,
// and so is leave(). The members of a group make calls in the memory that they get, or send a
// message with the number of the group.
#include <iostream>
#include <span>

#include <gtest/gtest.h>

#include "transport/shm/group_memory.hpp"
#include "transport/shm/node_collectives.hpp"
#include "unit/shm_model/modelled_processes.hpp"

namespace tutti::shm::model {
namespace {

struct small_traits {
  static constexpr std::uint32_t line_count = 2, line_count_with_slots = 2, slot_count = 2;
};
using collectives = node_collectives<model_memory, small_traits>;
constexpr std::size_t block_bytes = (collectives::bytes(0) + 127) / 128 * 128;
constexpr std::size_t words_bytes = 128;

struct setting {
  int size;
  options how;
  std::size_t groups = 1;                // that have memory at the same time
  std::size_t entries = 4;               // of the table
  bool heads_are_zeroed = true;          // else an error
  bool leaves_before_last_call = false;  // an error
  bool names_receivers = true;           // else an error
};

group_memory::sizes sizes_of(const setting& in) {
  return {.ranks = in.size,
          .small_block = block_bytes,
          .large_block = block_bytes,
          .head = in.heads_are_zeroed ? ~std::size_t{0} : 0,
          .small_groups = in.groups,
          .min_small_groups = in.groups,
          .large_groups = 0,
          .all_groups = in.entries};
}
// The place or the number that the groups have, a byte for each member and group.
std::size_t results_at(const setting& in) { return words_bytes + (sizes_of(in).bytes() + 127) / 128 * 128; }

class member {
 public:
  member(const setting& in, int index)
      : in_(in),
        index_(index),
        words_(shared, in.size, index, how().fenced),
        memory_(shared + words_bytes, sizes_of(in)) {}

  // Makes calls in a new group, if it gets memory.
  void use_group(std::uint64_t which, int calls) {
    const detail::group_name name{which, 1};
    std::vector<int> ranks;
    for (int i = 0; i < in_.size; ++i) ranks.push_back(i);
    const std::uint64_t found = locked([&] {
      const group_memory::membership in = memory_.enter(name, index_);
      const group_memory::place at = memory_.blocks(in, ranks);
      const auto offset = at.memory == nullptr ? 0 : static_cast<std::uint64_t>(at.memory - shared);
      return offset << 32 | in.number << 8 | in.row;
    });
    const std::uint64_t offset = found >> 32;
    const group_memory::membership in{static_cast<std::uint32_t>(found >> 8 & 0xffffff),
                                      static_cast<std::uint32_t>(found & 0xff)};
    const auto result = static_cast<std::byte>(offset / 64);
    store_result(which, result);
    if (offset != 0) {
      std::vector<std::byte*> blocks;
      for (int i = 0; i < in_.size; ++i)
        blocks.push_back(shared + offset + static_cast<std::size_t>(i) * block_bytes);
      collectives of(blocks, ranks, index_, 0, words_);
      for (int i = 0; i < calls; ++i) {
        if (in_.leaves_before_last_call && i + 1 == calls) leave(in);
        allreduce(of, 10 * which + static_cast<std::uint64_t>(i));
      }
      if (in_.leaves_before_last_call) return;
    }
    leave(in);
  }

  // Member 0 sends a message to the others, and leaves. They find it if they get the same number.
  void send_in_group(std::uint64_t which) {
    const std::uint64_t found = locked([&] {
      const group_memory::membership in = memory_.enter({which, 2}, index_);
      return std::uint64_t{in.number} << 8 | in.row;
    });
    const group_memory::membership in{static_cast<std::uint32_t>(found >> 8),
                                      static_cast<std::uint32_t>(found & 0xff)};
    // 0 means that there is no message yet.
    store_result(which, static_cast<std::byte>(1 + in.number));
    if (index_ != 0) wait_for_message(which);
    leave(in, index_ == 0 && in_.names_receivers);
  }

 private:
  std::byte* result_at(std::uint64_t which, int member) const {
    return shared + results_at(in_) + 8 * which + static_cast<std::size_t>(member);
  }
  void store_result(std::uint64_t which, std::byte result) {
    store(result_at(which, index_), &result, 1, store_kind::release);
  }
  void wait_for_message(std::uint64_t which) const {
    for (std::byte sent{0};;) {
      begin_poll();
      load(&sent, result_at(which, 0), 1);
      if (sent != std::byte{0}) return;
      poll();
    }
  }
  void leave(const group_memory::membership& in, bool has_sent_to_all = false) {
    constexpr bool all[] = {true, true, true, true};
    locked([&] {
      const std::span<const bool> sent_to(all, has_sent_to_all ? static_cast<std::size_t>(in_.size) : 0);
      memory_.leave(in, index_, sent_to);
      return 0;
    });
  }
  void allreduce(collectives& of, std::uint64_t value) {
    std::uint64_t sum = value + static_cast<std::uint64_t>(index_);
    const auto add = [](void* to, const std::byte* operand) {
      std::uint64_t one;
      model_memory::read(&one, operand, 8);
      *static_cast<std::uint64_t*>(to) += one;
    };
    of.allreduce(&sum, &sum, 8, value, add, waiter_,
                 [](int, std::uint64_t) { require(false, "the calls differ"); });
    const auto p = static_cast<std::uint64_t>(in_.size);
    require(sum == p * value + p * (p - 1) / 2, "an allreduce is not intact");
  }

  setting in_;
  int index_;
  wakeup_words<model_memory> words_;
  group_memory memory_;
  model_waiter waiter_;
};

template <class Program>
scenario of(const setting& in, Program&& program) {
  scenario s;
  s.how = in.how;
  s.memory_bytes = results_at(in) + 64;
  EXPECT_LE(s.memory_bytes, sizeof shared);
  for (int i = 0; i < in.size; ++i)
    s.processes.push_back([=] {
      member me(in, i);
      program(me);
    });
  s.prepare = [=] {
    std::memset(shared, 0, sizeof shared);
    group_memory(shared + words_bytes, sizes_of(in)).initialize();
    store(shared + words_bytes, shared + words_bytes, sizes_of(in).bytes(), store_kind::plain);
  };
  s.at_end = [in](const std::byte* memory) {
    for (std::size_t group = 0; group < 8; ++group)
      for (int i = 1; i < in.size; ++i) {
        const std::byte* const results = memory + results_at(in) + 8 * group;
        require(results[0] == results[i], "members of a group have other memory or another number");
      }
  };
  return s;
}

template <class Program>
void expect_correct(const char* what, const setting& in, Program&& program) {
  const result r = search(of(in, program));
  EXPECT_EQ(r.violation, "") << what;
  std::cout << what << " of " << in.size << ": " << r.states << " states\n";
}
constexpr options polling{.polls = true, .prompt = true};
constexpr options joined{.tso = true, .polls = true, .prompt = true, .joined = true};

void two_groups(member& me) {
  me.use_group(1, 1);
  me.use_group(2, 1);
}
void three_groups(member& me) {
  for (std::uint64_t i = 1; i <= 3; ++i) me.use_group(i, 1);
}
void messages_in_two_groups(member& me) {
  me.send_in_group(1);
  me.send_in_group(2);
}
void two_groups_of_several_calls(member& me) {
  me.use_group(1, 3);
  me.use_group(2, 2);
}

TEST(groups_model, memory_is_used_again) {
  expect_correct("two groups", {2, polling}, two_groups);
  expect_correct("several calls", {2, polling}, two_groups_of_several_calls);
  expect_correct("two groups", {3, joined}, two_groups);
}
TEST(groups_model, groups_overlap) {
  expect_correct("three groups in the memory of two", {2, polling, 2}, three_groups);
  expect_correct("one entry", {2, polling, 2, 1}, two_groups);
}
TEST(groups_model, receivers_find_the_number_of_the_sender) {
  expect_correct("messages", {2, polling}, messages_in_two_groups);
  expect_correct("messages", {3, polling}, messages_in_two_groups);
  expect_correct("messages, one entry", {2, polling, 1, 1}, messages_in_two_groups);
}
TEST(groups_model, members_sleep_and_wake) {
  for (const bool fenced : {false, true})
    expect_correct("two groups asleep", {2, {.fenced = fenced}}, two_groups);
}

// --- Errors that the search must find

TEST(groups_model, finds_memory_that_is_not_zeroed) {
  const setting in{2, polling, 1, 4, false};
  EXPECT_EQ(search(of(in, two_groups)).violation, "the calls differ");
}
TEST(groups_model, finds_members_that_leave_too_early) {
  const setting in{2, polling, 1, 4, true, true};
  EXPECT_NE(search(of(in, two_groups_of_several_calls)).violation, "");
}
TEST(groups_model, finds_receivers_that_are_not_named) {
  const setting in{.size = 2, .how = polling, .names_receivers = false};
  EXPECT_EQ(search(of(in, messages_in_two_groups)).violation,
            "members of a group have other memory or another number");
}
TEST(groups_model, finds_sleepers_that_nobody_wakes) {
  EXPECT_EQ(search(of({2, {.tso = true, .no_barrier = true}}, two_groups)).violation, "deadlock");
}

}  // namespace
}  // namespace tutti::shm::model

// SPDX-License-Identifier: Apache-2.0
//
// All interleavings of collectives in memory of two and three processes. As for channels, errors
// are made on purpose, and the search must find them.
#include <iostream>

#include <gtest/gtest.h>

#include "transport/shm/node_collectives.hpp"
#include "unit/shm_model/modelled_processes.hpp"

namespace tutti::shm::model {
namespace {

// Call n uses the line of call n - 2.
struct small_traits {
  static constexpr std::uint32_t line_count = 2, line_count_with_slots = 2, slot_count = 2;
};
using collectives = node_collectives<model_memory, small_traits>;
constexpr std::size_t slot_bytes = 64, blocks = 128;
constexpr std::size_t block_bytes = (collectives::bytes(slot_bytes) + 127) / 128 * 128;

struct member {
  member(int size, int index, std::uint64_t start)
      : words(shared, size, index, how().fenced),
        calls(memory(size), ranks(size), index, slot_bytes, words, start) {}

  static std::vector<std::byte*> memory(int size) {
    std::vector<std::byte*> all;
    for (int i = 0; i < size; ++i) all.push_back(shared + blocks + static_cast<std::size_t>(i) * block_bytes);
    return all;
  }
  static std::vector<int> ranks(int size) {
    std::vector<int> all;
    for (int i = 0; i < size; ++i) all.push_back(i);
    return all;
  }
  static void mismatch(int, std::uint64_t) { require(false, "the calls differ"); }

  void barrier() { calls.barrier(1, waiter, mismatch); }
  // Values of several words show whether an operand is whole.
  void bcast(int root, std::size_t count, std::uint64_t value) {
    std::vector<std::uint64_t> data(count, calls.member() == root ? value : 0);
    calls.bcast(data.data(), 8 * count, root, 2, waiter, mismatch);
    require(data == std::vector(count, value), "a bcast is not intact");
  }
  void allreduce(std::size_t count, std::uint64_t value) {
    std::vector<std::uint64_t> data(count, value + static_cast<std::uint64_t>(calls.member()));
    const auto add = [count](void* sum, const std::byte* operand) {
      std::vector<std::uint64_t> seen(count);
      model_memory::read(reinterpret_cast<std::byte*>(seen.data()), operand, 8 * count);
      for (std::size_t i = 0; i < count; ++i) static_cast<std::uint64_t*>(sum)[i] += seen[i];
    };
    calls.allreduce(data.data(), data.data(), 8 * count, 3, add, waiter, mismatch);
    const auto p = static_cast<std::uint64_t>(calls.size());
    require(data == std::vector(count, p * value + p * (p - 1) / 2), "an allreduce is not intact");
  }

  // Several calls at the same time, of which the last one is tried first.
  struct call_in_steps {
    std::uint64_t number, value;
    bool posted = false, complete = false;
    int next = 0;
  };
  void overlapping_allreduces(std::uint64_t how_many) {
    std::vector<call_in_steps> all;
    for (std::uint64_t i = 0; i < how_many; ++i) all.push_back({calls.begin(), 10 * i});
    wait_until(words, wait_for_post | wait_for_acknowledgement, waiter, [&] {
      bool complete = true;
      for (std::size_t i = all.size(); i-- > 0;) complete = advance(all[i]) && complete;
      return complete;
    });
  }
  bool advance(call_in_steps& c) {
    if (c.complete) return true;
    const auto p = static_cast<std::uint64_t>(calls.size());
    if (!c.posted) {
      if (!calls.may_post(c.number, 8)) return false;
      const std::uint64_t mine = c.value + static_cast<std::uint64_t>(calls.member());
      model_memory::write(calls.operand(c.number, 8), &mine, 8);
      calls.post(c.number, 3);
      calls.wake_members();
      c.posted = true;
    }
    for (; c.next < calls.size(); ++c.next)
      if (c.next != calls.member() && !calls.has_posted(c.number, c.next)) return false;
    std::uint64_t sum = 0;
    for (int i = 0; i < calls.size(); ++i) {
      std::uint64_t one;
      model_memory::read(&one, calls.operand_of(c.number, i, 8), 8);
      sum += one;
      require(i == calls.member() || calls.digest_of(c.number, i) == 3, "the calls differ");
    }
    calls.finish(c.number);
    require(sum == p * c.value + p * (p - 1) / 2, "an allreduce is not intact");
    return c.complete = true;
  }

  wakeup_words<model_memory> words;
  collectives calls;
  model_waiter waiter;
};

template <class Program>
scenario of(int size, options how, Program&& program, std::uint64_t start = 0) {
  scenario s;
  s.how = how;
  s.memory_bytes = blocks + static_cast<std::size_t>(size) * block_bytes;
  EXPECT_LE(s.memory_bytes, sizeof shared);
  cells_begin = shared + blocks;
  cells_end = shared + s.memory_bytes;
  for (int i = 0; i < size; ++i)
    s.processes.push_back([=] {
      member me(size, i, start);
      program(me);
    });
  s.prepare = [=] {
    for (std::byte* const at : member::memory(size)) {
      alignas(128) std::byte initial[block_bytes] = {};
      collectives::start_at(initial, slot_bytes, start);
      store(at, initial, sizeof initial, store_kind::plain);
    }
  };
  return s;
}

template <class Program>
void expect_correct(const char* what, int size, bool polls, Program&& program, std::uint64_t start = 0) {
  for (const bool fenced : {false, true}) {
    if (polls && fenced) continue;
    options how;
    how.fenced = fenced;
    how.polls = polls;
    const result r = search(of(size, how, program, start));
    EXPECT_EQ(r.violation, "") << what << (fenced ? ", fenced" : "");
    std::cout << what << " of " << size << ": " << r.states << " states\n";
  }
}

void two_barriers(member& me) {
  me.barrier();
  me.barrier();
}
void two_allreduces(member& me) {
  for (std::uint64_t i = 0; i < 2; ++i) me.allreduce(1, 10 * i);
}
void three_allreduces(member& me) {
  for (std::uint64_t i = 0; i < 3; ++i) me.allreduce(1, 10 * i);
}
void three_bcasts(member& me) {
  for (std::uint64_t i = 1; i < 4; ++i) me.bcast(0, 1, i);
}
void bcasts_in_slots(member& me) {
  for (std::uint64_t i = 1; i < 4; ++i) me.bcast(0, 8, i);
}

TEST(collectives_model, barriers) { expect_correct("barrier", 2, false, two_barriers); }
TEST(collectives_model, three_members_sleep_and_wake) {
  expect_correct("one barrier", 3, false, [](member& me) { me.barrier(); });
}
TEST(collectives_model, allreduces) {
  expect_correct("allreduce", 2, false, two_allreduces);
  expect_correct("allreduce", 2, true, three_allreduces);
  expect_correct("allreduce in slots", 2, true, [](member& me) {
    for (std::uint64_t i = 0; i < 3; ++i) me.allreduce(8, 10 * i);
  });
}
TEST(collectives_model, roots_run_ahead) {
  expect_correct("bcast", 2, false, three_bcasts);
  expect_correct("bcast", 3, true, three_bcasts);
  expect_correct("bcast in slots", 2, false, bcasts_in_slots);
}
TEST(collectives_model, roots_alternate) {
  expect_correct("bcast from both", 2, false, [](member& me) {
    for (std::uint64_t i = 1; i < 4; ++i) me.bcast(static_cast<int>(i % 2), 1, i);
  });
}
TEST(collectives_model, calls_overlap) {
  // There are two lines, so the third call must wait for the first. Three calls of members that
  // sleep have more states than the search permits, so three calls only poll.
  expect_correct("overlapping", 2, false, [](member& me) { me.overlapping_allreduces(2); });
  expect_correct("overlapping", 2, true, [](member& me) { me.overlapping_allreduces(3); });
  expect_correct("overlapping, then blocking", 2, true, [](member& me) {
    me.overlapping_allreduces(2);
    me.allreduce(1, 7);
  });
}
TEST(collectives_model, wraps_its_sequence_numbers) {
  expect_correct("wrap", 2, false, three_bcasts, ~std::uint64_t{1});
  expect_correct("wrap", 2, true, three_allreduces, ~std::uint64_t{1});
}

// --- Errors that the search must find

template <class Program>
void expect_violation(const char* expected, options how, Program&& program) {
  EXPECT_EQ(search(of(2, how, program)).violation, expected);
}

TEST(collectives_model, finds_a_post_that_precedes_its_operand) {
  // The digest is in the line of the operand, and is that of no call.
  expect_violation("the calls differ", {.polls = true, .publish_is_relaxed = true}, [](member& me) {
    for (std::uint64_t i = 0; i < 3; ++i) me.allreduce(8, 10 * i);
  });
}
TEST(collectives_model, finds_an_acknowledgement_that_precedes_the_read) {
  options how;
  how.fenced = how.reads_cell_after_credit = true;
  const scenario s = of(2, how, [](member& me) {
    for (std::uint64_t i = 1; i < 4; ++i) {
      std::uint64_t data = i;
      me.calls.bcast(&data, sizeof data, 0, 2, me.waiter, member::mismatch);
      require(data == i, "a bcast is not intact");
    }
  });
  EXPECT_EQ(search(s).violation, "a bcast is not intact");
}
TEST(collectives_model, finds_sleepers_that_nobody_wakes) {
  expect_violation("deadlock", {.tso = true, .sleeps_without_recheck = true}, two_barriers);
  expect_violation("deadlock", {.tso = true, .no_barrier = true}, two_barriers);
  expect_violation("deadlock", {.tso = true, .fenced = true, .no_barrier = true}, two_barriers);
  expect_violation("deadlock", {.tso = true, .fenced = true, .no_fence_of_writer = true}, two_barriers);
}
TEST(collectives_model, finds_different_calls) {
  expect_violation("the calls differ", {.polls = true}, [](member& me) {
    if (me.calls.member() == 0) {
      me.barrier();
    } else {
      me.allreduce(1, 1);
    }
  });
}

}  // namespace
}  // namespace tutti::shm::model

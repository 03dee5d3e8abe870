// SPDX-License-Identifier: Apache-2.0
//
// All interleavings of calls in shared buffers (engines/mpi/negotiated_calls.hpp). Each member
// posts where its buffers are. When all have posted, it writes its slice of the result to the
// memory of all members, and posts that it has finished. When all have, its caller uses the memory
// again. Then the call finishes the numbers of the rounds that it does not need. The model makes
// these steps itself, from the functions of node_collectives.hpp. If the buffers are not shared,
// the members finish such numbers after the first post, and then exchange their data in one round.
#include <deque>
#include <iostream>

#include <gtest/gtest.h>

#include "transport/shm/node_collectives.hpp"
#include "unit/shm_model/modelled_processes.hpp"

namespace tutti::shm::model {
namespace {

struct small_traits {
  static constexpr std::uint32_t line_count = 2, line_count_with_slots = 2, slot_count = 2;
};
using collectives = node_collectives<model_memory, small_traits>;
// The input and the output of a member have a line each.
constexpr std::size_t blocks = 128, buffer_bytes = 128;
constexpr std::size_t block_bytes = (collectives::bytes(0) + 127) / 128 * 128;

/// Errors that the search must find.
enum class fault { none, works_at_once, ends_after_its_work };

struct setting {
  int size;
  options how;
  int calls = 1;
  bool overlapping = false;
  bool not_shared = false;
};

class member {
 public:
  member(const setting& in, int index, fault what)
      : in_(in),
        what_(what),
        words_(shared, in.size, index, how().fenced),
        calls_(memory(in.size), ranks(in.size), index, 0, words_) {}

  static std::size_t buffers(int size, int calls, int i, int call) {
    return blocks + static_cast<std::size_t>(size) * block_bytes +
           static_cast<std::size_t>(i * calls + call) * buffer_bytes;
  }
  static std::vector<std::byte*> memory(int size) {
    std::vector<std::byte*> all;
    for (int i = 0; i < size; ++i) all.push_back(shared + blocks + static_cast<std::size_t>(i) * block_bytes);
    return all;
  }

  void run() {
    std::deque<under_way> all;
    const auto advance_all = [&] {
      bool complete = true;
      for (std::size_t i = all.size(); i-- > 0;) complete = advance(all[i]) && complete;
      return complete;
    };
    for (int i = 0; i < in_.calls; ++i) {
      all.push_back(begin(i));
      if (!in_.overlapping) calls_.wait(reasons, waiter_, advance_all);
    }
    if (in_.overlapping) calls_.wait(reasons, waiter_, advance_all);
  }

 private:
  static constexpr std::uint32_t reasons = wait_for_post | wait_for_acknowledgement;
  // Two steps and a round that is not needed.
  static constexpr std::uint64_t numbers = 3;
  struct under_way {
    std::uint64_t number;
    int call;
    int step = 0, next = 0;
    bool posted = false;
  };
  static std::vector<int> ranks(int size) {
    std::vector<int> all;
    for (int i = 0; i < size; ++i) all.push_back(i);
    return all;
  }
  static std::uint64_t value(int i, int call) { return static_cast<std::uint64_t>(100 * (i + 1) + call); }
  int me() const noexcept { return calls_.member(); }
  std::byte* input(int i, int call) const { return shared + buffers(in_.size, in_.calls, i, call); }
  std::byte* output(int i, int call) const { return input(i, call) + 64; }
  static void write(std::byte* at, std::uint64_t word) { model_memory::write(at, &word, sizeof word); }
  static std::uint64_t read(const std::byte* at) {
    std::uint64_t word;
    model_memory::read(&word, at, sizeof word);
    return word;
  }

  under_way begin(int call) {
    write(input(me(), call), value(me(), call));
    return {calls_.begin(in_.not_shared ? numbers + 1 : numbers), call};
  }
  bool all_have_posted(under_way& c) {
    if (!c.posted) {
      if (!calls_.may_post(c.number, 8)) return false;
      write(calls_.operand(c.number, 8), value(me(), c.call));
      calls_.post(c.number, 3);
      if (in_.overlapping) calls_.wake_members();
      c.posted = true;
    }
    if (what_ == fault::works_at_once && c.step == 0) return true;
    if (what_ == fault::ends_after_its_work && c.step == 1) return true;
    for (; c.next < in_.size; ++c.next)
      if (c.next != me() && !calls_.has_posted(c.number, c.next)) return false;
    calls_.wake_members();
    return true;
  }
  // Word `me` of each output is the sum of all inputs.
  void work(const under_way& c) {
    std::uint64_t sum = 0;
    for (int i = 0; i < in_.size; ++i) sum += read(input(i, c.call));
    for (int i = 0; i < in_.size; ++i) write(output(i, c.call) + 8 * me(), sum);
  }
  void use_again(const under_way& c) {
    std::uint64_t expected = 0;
    for (int i = 0; i < in_.size; ++i) expected += value(i, c.call);
    for (int i = 0; i < in_.size; ++i)
      require(read(output(me(), c.call) + 8 * i) == expected, "the result is wrong");
    write(input(me(), c.call), 7);
  }
  // The members exchange, finish two numbers, and exchange their data.
  bool advance_not_shared(under_way& c) {
    for (; c.step < 4; ++c.step) {
      if (c.step == 1 || c.step == 2) {
        if (!calls_.may_finish(c.number)) return false;
      } else {
        if (!all_have_posted(c)) return false;
        for (int i = 0; i < in_.size; ++i)
          require(read(calls_.operand_of(c.number, i, 8)) == value(i, c.call), "the result is wrong");
      }
      calls_.finish(c.number++);
      c.next = 0;
      c.posted = false;
    }
    return true;
  }
  bool advance(under_way& c) {
    if (in_.not_shared) return advance_not_shared(c);
    for (; c.step < 2; ++c.step) {
      if (!all_have_posted(c)) return false;
      if (c.step == 0)
        work(c);
      else
        use_again(c);
      calls_.finish(c.number++);
      c.next = 0;
      c.posted = false;
    }
    if (c.step == 2) {
      if (!calls_.may_finish(c.number)) return false;
      calls_.finish(c.number++);
      ++c.step;
    }
    return true;
  }

  setting in_;
  fault what_;
  wakeup_words<model_memory> words_;
  collectives calls_;
  model_waiter waiter_;
};

scenario of(const setting& in, fault what) {
  scenario s;
  s.how = in.how;
  s.memory_bytes = member::buffers(in.size, in.calls, in.size, 0);
  EXPECT_LE(s.memory_bytes, sizeof shared);
  s.writers.assign(s.memory_bytes / 64, -1);
  for (int i = 0; i < in.size; ++i) {
    const auto block =
        static_cast<std::size_t>(member::memory(in.size)[static_cast<std::size_t>(i)] - shared);
    std::fill_n(s.writers.begin() + static_cast<std::ptrdiff_t>(block / 64), block_bytes / 64, i);
    s.processes.push_back([=] { member(in, i, what).run(); });
  }
  return s;
}

void expect_correct(const char* what, const setting& in) {
  const result r = search(of(in, fault::none));
  EXPECT_EQ(r.violation, "") << what;
  std::cout << what << " of " << in.size << " members: " << r.states << " states\n";
}

constexpr options polling{.polls = true, .prompt = true},
    joined{.polls = true, .prompt = true, .joined = true};

TEST(shared_buffers_model, results_are_complete_and_buffers_free_at_the_end) {
  expect_correct("one call", {2, polling});
  expect_correct("one call", {3, joined});
  expect_correct("two calls", {2, joined, 2});
}
TEST(shared_buffers_model, calls_overlap) { expect_correct("two calls", {2, joined, 2, true}); }
TEST(shared_buffers_model, data_follow_the_exchange_if_buffers_are_not_shared) {
  expect_correct("one call", {2, polling, 1, false, true});
  expect_correct("two calls", {2, joined, 2, false, true});
  expect_correct("two calls", {2, joined, 2, true, true});
}
TEST(shared_buffers_model, members_sleep_and_wake) {
  for (const bool fenced : {false, true})
    expect_correct("one call", {2, {.fenced = fenced, .prompt = true, .plain_loads_join = true}});
}

// --- Errors that the search must find

TEST(shared_buffers_model, finds_members_that_work_at_once) {
  EXPECT_EQ(search(of({2, polling}, fault::works_at_once)).violation, "the result is wrong");
}
TEST(shared_buffers_model, finds_members_that_do_not_wait_at_the_end) {
  EXPECT_EQ(search(of({2, polling}, fault::ends_after_its_work)).violation, "the result is wrong");
}
TEST(shared_buffers_model, finds_results_that_follow_their_post) {
  options how = polling;
  how.publish_is_relaxed = true;
  EXPECT_EQ(search(of({2, how}, fault::none)).violation, "the result is wrong");
}
TEST(shared_buffers_model, finds_sleepers_that_nobody_wakes) {
  EXPECT_EQ(search(of({2, options{.tso = true, .no_barrier = true}}, fault::none)).violation, "deadlock");
}

}  // namespace
}  // namespace tutti::shm::model

// SPDX-License-Identifier: Apache-2.0
//
// All interleavings of calls of several rounds whose owners are of two kinds. An owner of the first
// kind posts a piece in a slot in each round. The memory of the other kind can be mapped: the owner
// posts its place in the first round, and the readers read it there in all rounds. At the end it
// waits until its readers have finished the last round by address. The model makes these steps
// itself, from the functions of node_collectives.hpp.
#include <array>
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
constexpr std::size_t slot_bytes = 64, blocks = 128, data_bytes = 64;
constexpr std::size_t block_bytes = (collectives::bytes(slot_bytes) + 127) / 128 * 128;

enum class kind { in_place, in_slots, reads };  // the last one owns nothing

/// Errors that the search must find.
enum class fault {
  none,
  owner_does_not_wait,       // for its readers
  finishes_without_word,     // a reader ends the last round as the others
  reads_place_again,         // a reader looks for the place in each round
  finishes_before_it_reads,  // an owner in place finishes all rounds at once, although it reads
};

struct setting {
  std::vector<kind> kinds;
  options how;
  std::uint64_t rounds = 3;
  bool owners_read = true;  // the posts of other owners
};

class member {
 public:
  member(const setting& in, int index, fault what)
      : in_(in),
        what_(what),
        words_(shared, size(), index, how().fenced),
        calls_(memory(size()), ranks(size()), index, slot_bytes, words_) {}

  int size() const noexcept { return static_cast<int>(in_.kinds.size()); }
  static std::size_t data(int size, int i) {
    return blocks + static_cast<std::size_t>(size) * block_bytes + static_cast<std::size_t>(i) * data_bytes;
  }
  static std::vector<std::byte*> memory(int size) {
    std::vector<std::byte*> all;
    for (int i = 0; i < size; ++i) all.push_back(shared + blocks + static_cast<std::size_t>(i) * block_bytes);
    return all;
  }

  void one_by_one(std::uint64_t count) {
    for (std::uint64_t i = 0; i < count; ++i) {
      under_way c = begin(0);
      calls_.wait(reasons, waiter_, [&] { return advance(c, false); });
    }
  }
  void overlapping(std::uint64_t count) {
    std::deque<under_way> all;
    for (std::uint64_t i = 0; i < count; ++i) all.push_back(begin(i));
    calls_.wait(reasons, waiter_, [&] {
      bool complete = true;
      for (std::size_t i = all.size(); i-- > 0;) complete = advance(all[i], true) && complete;
      return complete;
    });
  }

 private:
  static constexpr std::uint32_t reasons = wait_for_post | wait_for_acknowledgement;
  struct under_way {
    std::uint64_t number, place;  // of the round; of the data of this member
    std::uint64_t round = 0;
    int next = 0;
    bool posted = false, complete = false;
    std::array<std::uint64_t, 3> places{};
  };
  static std::vector<int> ranks(int size) {
    std::vector<int> all;
    for (int i = 0; i < size; ++i) all.push_back(i);
    return all;
  }
  static std::uint64_t value(int i, std::uint64_t n) { return 100 * static_cast<std::uint64_t>(i + 1) + n; }
  kind of(int i) const { return in_.kinds[static_cast<std::size_t>(i)]; }
  int me() const noexcept { return calls_.member(); }
  bool reads(int reader, int owner) const {
    return reader != owner && of(owner) != kind::reads && (in_.owners_read || of(reader) == kind::reads);
  }

  under_way begin(std::uint64_t which) {
    under_way c{calls_.begin(in_.rounds), data(size(), me()) + 8 * in_.rounds * which};
    if (of(me()) == kind::in_place)
      for (std::uint64_t r = 0; r < in_.rounds; ++r)
        write(shared + c.place + 8 * r, value(me(), c.number + r));
    return c;
  }
  static void write(std::byte* at, std::uint64_t word) { model_memory::write(at, &word, sizeof word); }
  static std::uint64_t read(const std::byte* at) {
    std::uint64_t word;
    model_memory::read(&word, at, sizeof word);
    return word;
  }

  // The line of the first round has the place, or 0.
  bool post(under_way& c) {
    const std::uint64_t n = c.number;
    const bool first = c.round == 0;
    if (of(me()) == kind::in_slots) {
      if (!calls_.may_post(n, slot_bytes)) return false;
      if (first) write(calls_.operand(n, 8), 0);
      write(calls_.operand(n, slot_bytes), value(me(), n));
      calls_.post(n, 3);
    } else if (of(me()) == kind::in_place && first) {
      if (!calls_.may_post(n, 8)) return false;
      write(calls_.operand(n, 8), c.place);
      calls_.post(n, 3);
    }
    return true;
  }
  bool take(under_way& c) {
    const std::uint64_t n = c.number, start = n - c.round;
    for (; c.next < size(); ++c.next) {
      if (!reads(me(), c.next)) continue;
      std::uint64_t& place = c.places[static_cast<std::size_t>(c.next)];
      if ((c.round == 0 || place == 0) && !calls_.has_posted(n, c.next)) return false;
      if (c.round == 0 || (place != 0 && what_ == fault::reads_place_again))
        place = read(calls_.operand_of(start, c.next, 8));
      const std::byte* const from =
          place != 0 ? shared + place + 8 * c.round : calls_.operand_of(n, c.next, slot_bytes);
      require(read(from) == value(c.next, n), "a piece is not intact");
    }
    return true;
  }
  void finish(std::uint64_t n, std::uint64_t round) {
    if (round + 1 == in_.rounds && what_ != fault::finishes_without_word)
      calls_.finish_by_address(n);
    else
      calls_.finish(n);
  }
  bool advance(under_way& c, bool overlaps) {
    if (c.complete) return true;
    for (; c.round < in_.rounds; ++c.round, ++c.number) {
      if (!c.posted && !post(c)) return false;
      if (!c.posted && overlaps) calls_.wake_members();
      c.posted = true;
      if (!take(c)) return false;
      if (what_ == fault::finishes_before_it_reads && of(me()) == kind::in_place) {
        for (std::uint64_t r = 0; c.round == 0 && r < in_.rounds; ++r) finish(c.number + r, r);
      } else {
        finish(c.number, c.round);
      }
      c.posted = false;
      c.next = 0;
    }
    if (of(me()) == kind::in_place) {
      for (; c.next < size() && what_ != fault::owner_does_not_wait; ++c.next)
        if (reads(c.next, me()) && !calls_.has_finished(c.number - 1, c.next)) return false;
      // The caller reuses its memory.
      for (std::uint64_t r = 0; r < in_.rounds; ++r) write(shared + c.place + 8 * r, 7);
    }
    return c.complete = true;
  }

  setting in_;
  fault what_;
  wakeup_words<model_memory> words_;
  collectives calls_;
  model_waiter waiter_;
};

using program = void (*)(member&);
scenario of(const setting& in, fault what, program run) {
  const int size = static_cast<int>(in.kinds.size());
  scenario s;
  s.how = in.how;
  s.memory_bytes = member::data(size, size);
  EXPECT_LE(s.memory_bytes, sizeof shared);
  s.writers.assign(s.memory_bytes / 64, -1);
  for (int i = 0; i < size; ++i) {
    const auto set = [&](std::size_t from, std::size_t bytes) {
      std::fill_n(s.writers.begin() + static_cast<std::ptrdiff_t>(from / 64), bytes / 64, i);
    };
    set(static_cast<std::size_t>(member::memory(size)[static_cast<std::size_t>(i)] - shared), block_bytes);
    set(member::data(size, i), data_bytes);
    s.processes.push_back([=] {
      member me(in, i, what);
      run(me);
    });
  }
  return s;
}

void one(member& me) { me.one_by_one(1); }
void two(member& me) { me.one_by_one(2); }
void two_that_overlap(member& me) { me.overlapping(2); }

void expect_correct(const char* what, const setting& in, program run) {
  const result r = search(of(in, fault::none, run));
  EXPECT_EQ(r.violation, "") << what;
  std::cout << what << " of " << in.kinds.size() << ": " << r.states << " states\n";
}
void expect_violation(const char* expected, const setting& in, fault what, program run) {
  EXPECT_EQ(search(of(in, what, run)).violation, expected);
  EXPECT_EQ(search(of(in, fault::none, run)).violation, "");
}

constexpr options polling{.polls = true, .prompt = true};
constexpr options joined{.polls = true, .prompt = true, .joined = true};
constexpr options joined_in_order{.tso = true, .polls = true, .prompt = true, .joined = true};
const std::vector<kind> root{kind::in_place, kind::reads},
    root_of_three{kind::in_place, kind::reads, kind::reads}, mixed{kind::in_place, kind::in_slots},
    mixed_of_three{kind::in_place, kind::in_slots, kind::reads}, both{kind::in_place, kind::in_place};

TEST(in_place_model, a_root_posts_once) {
  expect_correct("two roots", {root, polling}, two);
  expect_correct("two overlapping roots", {root, polling}, two_that_overlap);
  expect_correct("root", {root_of_three, polling}, one);
}
TEST(in_place_model, owners_of_both_kinds) {
  expect_correct("mixed", {mixed, polling}, one);
  expect_correct("two in place", {both, polling}, two);
  expect_correct("two mixed", {mixed, joined}, two);
}
TEST(in_place_model, owners_of_both_kinds_overlap) {
  expect_correct("two overlapping in place", {both, joined}, two_that_overlap);
  expect_correct("two overlapping mixed", {mixed, joined_in_order}, two_that_overlap);
}
TEST(in_place_model, three_members) {
  expect_correct("mixed", {mixed_of_three, joined_in_order}, one);
  expect_correct("two overlapping roots", {root_of_three, joined_in_order}, two_that_overlap);
  expect_correct("two overlapping, mixed", {mixed_of_three, joined_in_order, 2, false}, two_that_overlap);
}
TEST(in_place_model, members_sleep_and_wake) {
  for (const bool fenced : {false, true}) {
    expect_correct("root asleep", {root, {.fenced = fenced}}, one);
    expect_correct("mixed asleep", {mixed, {.fenced = fenced, .prompt = true, .plain_loads_join = true}},
                   one);
  }
}

// --- Errors that the search must find

TEST(in_place_model, finds_owners_that_do_not_wait) {
  expect_violation("a piece is not intact", {root, polling}, fault::owner_does_not_wait, one);
}
TEST(in_place_model, finds_readers_that_end_without_their_word) {
  expect_violation("deadlock", {root, polling}, fault::finishes_without_word, one);
}
TEST(in_place_model, finds_places_that_are_read_again) {
  // The line of the first round has the place of the next call.
  expect_violation("a piece is not intact", {root, polling, 2}, fault::reads_place_again, two_that_overlap);
}
TEST(in_place_model, finds_slots_that_are_used_again_too_early) {
  expect_violation("a piece is not intact", {mixed, joined}, fault::finishes_before_it_reads, two);
}
TEST(in_place_model, finds_a_place_that_follows_its_post) {
  options how = polling;
  how.publish_is_relaxed = true;
  EXPECT_EQ(search(of({root, how}, fault::none, one)).violation, "a piece is not intact");
}
TEST(in_place_model, finds_sleepers_that_nobody_wakes) {
  for (const options& how : {options{.tso = true, .no_barrier = true},
                             options{.tso = true, .fenced = true, .no_fence_of_writer = true}})
    EXPECT_EQ(search(of({root, how}, fault::none, one)).violation, "deadlock");
}

}  // namespace
}  // namespace tutti::shm::model

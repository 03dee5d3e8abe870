// SPDX-License-Identifier: Apache-2.0
//
// Tests the rules for schedules one by one on hand-written schedules: each rule is violated once,
// and the proof must report it.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "proof/abstract_run.hpp"
#include "support/contained_text.hpp"

namespace tutti::proof {
namespace {

abstract_call call_of(collective what, int ranks, std::size_t count) {
  case_options w;
  w.what = what;
  w.ranks = ranks;
  w.count = count;
  w.blocks = blocks_are::even;
  return make_abstract_call(w);
}

// Returns the error, or "" if there is none.
std::string found(const abstract_call& p, const writer& write, outcome* all = nullptr) {
  const outcome o = run_abstract(p, write_all(write, p), {.symbols = true, .record = true});
  if (all != nullptr) *all = o;
  return o.ok() ? "" : o.faults[0].what;
}

using tests::contains;

// --- rendezvous

TEST(rendezvous, two_sends_that_wait_for_one_another_are_a_deadlock) {
  const abstract_call p = call_of(collective::allgather, 2, 3);
  const auto write = [](bool together) {
    return [together](const shape& s, builder& b) {
      b.copy(whole(buffer::input), block(buffer::output, s.rank));
      b.round();
      b.send(1 - s.rank, whole(buffer::input));
      if (!together) b.round();
      b.recv(1 - s.rank, block(buffer::output, 1 - s.rank));
    };
  };
  EXPECT_EQ(found(p, write(true)), "");
  EXPECT_TRUE(contains(found(p, write(false)),
                       "no rank can continue: rank 0 waits in its round 1 to be received by 1"));
}

TEST(rendezvous, messages_meet_in_order_and_in_size) {
  const abstract_call p = call_of(collective::scatter, 2, 2);
  const auto write = [](int second) {
    return [second](const shape& s, builder& b) {
      if (s.rank == 0) {
        b.send(1, block(buffer::input, second));
        b.copy(block(buffer::input, 0), whole(buffer::output));
      } else {
        b.recv(0, whole(buffer::output));
      }
    };
  };
  EXPECT_EQ(found(p, write(1)), "");
  EXPECT_TRUE(contains(found(p, write(0)), "is r0[0], not r0[2]"));
  EXPECT_TRUE(contains(found(p, write(2)), "input[4 .. 6) of rank 0, where it has 4 elements"));
  EXPECT_TRUE(contains(found(p,
                             [](const shape& s, builder& b) {
                               if (s.rank == 0)
                                 b.send(1, blocks(buffer::input, 0, 2));
                               else
                                 b.recv(0, whole(buffer::output));
                             }),
                       "sends 4 elements"));
  EXPECT_TRUE(contains(found(p, [](const shape&, builder& b) { b.send(2, whole(buffer::input)); }),
                       "there is no rank 2"));
}

// --- places

TEST(places, what_holds_nothing_is_not_read) {
  const abstract_call p = call_of(collective::allreduce, 1, 3);
  EXPECT_EQ(found(p, [](const shape&, builder& b) { b.copy(whole(buffer::input), whole(buffer::output)); }),
            "");
  EXPECT_TRUE(contains(found(p, [](const shape&, builder&) {}), "is nothing, not r0[0]"));
  EXPECT_TRUE(contains(found(p,
                             [](const shape&, builder& b) {
                               b.scratch(buffer::scratch0, 1);
                               b.copy(whole(buffer::scratch0), whole(buffer::output));
                             }),
                       "is not yet written"));
  EXPECT_TRUE(contains(
      found(p, [](const shape&, builder& b) { b.copy(whole(buffer::output), whole(buffer::input)); }),
      "is not yet written"));
  EXPECT_TRUE(
      contains(found(p, [](const shape&, builder& b) { b.copy(whole(buffer::input), whole(buffer::input)); }),
               "it writes input"));
}

TEST(places, gaps_of_the_caller_stay_as_they_are) {
  case_options w;
  w.what = collective::allgatherv;
  w.ranks = 2;
  w.count = 4;
  const abstract_call p = make_abstract_call(w);
  const auto write = [](int first) {
    return [first](const shape& s, builder& b) {
      b.copy(whole(buffer::input), block(buffer::output, s.rank, partition::output_counts));
      b.round();
      b.exchange(1 - s.rank, whole(buffer::input), 1 - s.rank,
                 block(buffer::output, 1 - s.rank, partition::output_counts));
      b.round();
      if (first != 0)
        // Writes to the beginning, where there is a gap.
        b.copy(whole(buffer::input), whole(buffer::output));
    };
  };
  EXPECT_EQ(found(p, write(0)), "");
  EXPECT_TRUE(contains(found(p, write(1)), "a gap of the caller"));
  EXPECT_TRUE(contains(
      found(p, [](const shape&,
                  builder& b) { b.send(0, blocks(buffer::output, 0, 2, partition::output_counts)); }),
      "need not be adjacent"));
}

// --- puts

// Rank 0 puts its block to rank 1 and signals. If `early`, rank 1 writes there before it has
// awaited the signal.
writer putting(bool early, bool signalled) {
  return [=](const shape& s, builder& b) {
    if (s.rank == 0) {
      if (signalled) {
        b.recv(1, blocks(buffer::output, 1, 0));
        b.round();
      }
      b.put(1, whole(buffer::input), block(buffer::output, 0));
      b.signal(1);
      b.round();
      b.copy(whole(buffer::input), block(buffer::output, 0));
      b.round();
      b.recv(1, block(buffer::output, 1));
    } else {
      b.copy(whole(buffer::input), block(buffer::output, 1));
      if (early) b.copy(whole(buffer::input), block(buffer::output, 0));
      b.round();
      if (signalled) {
        b.send(0, blocks(buffer::output, 1, 0));
        b.round();
      }
      b.await_signal(0);
      b.round();
      b.send(0, whole(buffer::input));
    }
  };
}

TEST(puts, may_not_overlap_accesses_not_ordered_before_their_sender) {
  const abstract_call p = call_of(collective::allgather, 2, 3);
  EXPECT_EQ(found(p, putting(false, false)), "");
  EXPECT_EQ(found(p, putting(true, true)), "");
  EXPECT_TRUE(contains(found(p, putting(true, false)), "may put to"));
}

TEST(puts, a_signal_is_awaited_and_nothing_else) {
  const abstract_call p = call_of(collective::barrier, 2, 0);
  EXPECT_EQ(found(p,
                  [](const shape& s, builder& b) {
                    b.signal(1 - s.rank);
                    b.await_signal(1 - s.rank);
                  }),
            "");
  EXPECT_TRUE(contains(found(p,
                             [](const shape& s, builder& b) {
                               if (s.rank == 0)
                                 b.signal(1);
                               else
                                 b.recv(0, whole(buffer::output));
                             }),
                       "which puts or signals"));
}

// --- barrier

TEST(barrier, no_rank_leaves_before_all_have_arrived) {
  const abstract_call p = call_of(collective::barrier, 3, 0);
  const auto write = [](bool back) {
    return [back](const shape& s, builder& b) {
      const place empty = blocks(buffer::input, 0, 0);
      if (s.rank == 0) {
        for (int r = 1; r < 3; ++r) b.recv(r, empty);
        b.round();
        for (int r = 1; r < (back ? 3 : 2); ++r) b.send(r, empty);
      } else {
        b.send(0, empty);
        b.round();
        if (back || s.rank == 1) b.recv(0, empty);
      }
    };
  };
  EXPECT_EQ(found(p, write(true)), "");
  EXPECT_TRUE(contains(found(p, write(false)), "may leave the barrier before rank 0 has arrived"));
}

// --- words

TEST(words, give_the_lengths_of_blocks) {
  case_options w;
  w.what = collective::allgatherv;
  w.ranks = 2;
  w.count = 5;
  const abstract_call p = make_abstract_call(w);
  ASSERT_NE(p.counts[0], p.counts[1]);
  // Lengths are sent first, then blocks of the maximum length. Only the last copy uses the table
  // `out`.
  const auto write = [](bool measured) {
    return [measured](const shape& s, builder& b) {
      b.words(3, 2);
      if (measured) b.measure(whole(buffer::input), word(s.rank));
      b.round();
      b.exchange(1 - s.rank, word(s.rank), 1 - s.rank, word(1 - s.rank));
      b.maximum(word(0), word(1), word(2));
      b.reserve(blocks(buffer::scratch0, 0, 2, partition::padded));
      b.copy(whole(buffer::input), block(buffer::scratch0, s.rank, partition::padded));
      b.round();
      b.exchange(1 - s.rank, block(buffer::scratch0, s.rank, partition::padded), 1 - s.rank,
                 block(buffer::scratch0, 1 - s.rank, partition::padded));
      for (int r = 0; r < 2; ++r)
        b.copy(block(buffer::scratch0, r, partition::padded),
               block(buffer::output, r, partition::output_counts));
    };
  };
  outcome o;
  EXPECT_EQ(found(p, write(true), &o), "");
  const std::size_t longest = std::max(p.counts[0], p.counts[1]);
  EXPECT_EQ(o.measured.max_bytes(), 8 + 8 * longest);
  EXPECT_EQ(o.measured.max_scratch(), 2 * 8 * longest);
  EXPECT_NE(found(p, write(false)), "");
}

// --- costs

TEST(one_port, messages_of_a_round_are_serialized) {
  const abstract_call p = call_of(collective::gather, 5, 1);
  outcome o;
  EXPECT_EQ(found(
                p,
                [](const shape& s, builder& b) {
                  if (s.rank != 0) return b.send(0, whole(buffer::input));
                  for (int r = 1; r < 5; ++r) b.recv(r, block(buffer::output, r));
                  b.copy(whole(buffer::input), whole(buffer::output));
                },
                &o),
            "");
  EXPECT_EQ(o.measured.rounds, 4);
  EXPECT_EQ(o.measured.sent, (std::vector<std::uint64_t>{0, 8, 8, 8, 8}));
  EXPECT_EQ(o.measured.received, (std::vector<std::uint64_t>{32, 0, 0, 0, 0}));
  EXPECT_EQ(o.measured.max_bytes(), 32u);
  ASSERT_EQ(o.recorded[0].size(), 1u);
  for (int i = 0; i < 4; ++i) EXPECT_EQ(o.recorded[0][0].steps[static_cast<std::size_t>(i)].time, i);
}

// Four messages, each the second one of a rank that must serve the next message first.
TEST(one_port, lists_that_block_one_another_still_complete) {
  const abstract_call p = call_of(collective::barrier, 4, 0);
  outcome o;
  found(
      p,
      [](const shape& s, builder& b) {
        const place empty = blocks(buffer::input, 0, 0);
        if (s.rank % 2 == 0) {
          b.send(s.rank == 0 ? 1 : 3, empty);
          b.send(s.rank == 0 ? 3 : 1, empty);
        } else {
          b.recv(s.rank == 1 ? 2 : 0, empty);
          b.recv(s.rank == 1 ? 0 : 2, empty);
        }
      },
      &o);
  EXPECT_EQ(o.measured.messages, 4u);
  EXPECT_GE(o.measured.rounds, 2);
  EXPECT_LE(o.measured.rounds, 4);
}

}  // namespace
}  // namespace tutti::proof

// SPDX-License-Identifier: Apache-2.0
//
// Tests the rules for composite plans one by one on hand-written plans: each rule is violated once,
// and the proof must report it.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "proof/composed_cases.hpp"
#include "proof/composite_proof.hpp"
#include "support/contained_text.hpp"

namespace tutti::proof {
namespace {

using body = std::function<void(planner&)>;

std::string found(const abstract_call& p, const body& write, bool everywhere = false) {
  const hierarchy topology(p.ranks);
  std::vector<composite_plan> all;
  for (int r = 0; r < p.ranks; ++r) {
    const call c = call_of(p, r, everywhere);
    planner one(c, r, topology, p.parameter_values);
    write(one);
    all.push_back(one.finish());
  }
  const auto o = run_composite_plans(p, all, everywhere);
  return o.ok() ? "" : o.faults[0].what;
}

abstract_call call_for(collective what, int ranks, std::size_t count, int root = 0, bool in_place = false) {
  case_options w;
  w.what = what;
  w.ranks = ranks;
  w.count = count;
  w.root = root;
  w.ordered = true;
  w.in_place = in_place;
  w.blocks = blocks_are::even;
  return make_abstract_call(w);
}

subcall sub(collective what, area from, area to, std::size_t count, int root = 0) {
  subcall c;
  c.what = what;
  c.input = from;
  c.output = to;
  c.count = count;
  c.root = root;
  return c;
}

using tests::contains;

const composed_algorithm* named(std::string_view name) {
  for (const composed_algorithm* c : composition_catalogue())
    if (c->name == name) return c;
  return nullptr;
}

TEST(rules, a_right_program_passes) {
  EXPECT_EQ(
      found(call_for(collective::allreduce, 3, 4),
            [](planner& p) { p.call_on(p.all(), sub(collective::allreduce, p.input(), p.output(), 4)); }),
      "");
}

TEST(rules, members_that_wait_for_different_calls_are_a_deadlock) {
  EXPECT_TRUE(contains(found(call_for(collective::barrier, 3, 0),
                             [](planner& p) {
                               if (p.rank() == 1)
                                 p.skip();
                               else
                                 p.call_on(p.all(), sub(collective::barrier, {}, {}, 0));
                             }),
                       "not called by rank 1"));
}

TEST(rules, crossed_calls_are_a_deadlock) {
  EXPECT_TRUE(contains(found(call_for(collective::barrier, 2, 0),
                             [](planner& p) {
                               const auto b = sub(collective::barrier, {}, {}, 0);
                               if (p.rank() == 1) p.skip();
                               p.call_on(p.all(), b);
                               if (p.rank() == 0) p.skip();
                             }),
                       "no rank can continue"));
}

TEST(rules, a_count_that_differs_is_reported) {
  EXPECT_TRUE(contains(found(call_for(collective::allreduce, 2, 4),
                             [](planner& p) {
                               p.call_on(p.all(), sub(collective::allreduce, p.input(), p.output(),
                                                      p.rank() == 0 ? 4 : 3));
                             }),
                       "differ in the count"));
}

TEST(rules, in_place_on_one_rank_only_is_reported) {
  EXPECT_TRUE(contains(found(call_for(collective::allreduce, 2, 4),
                             [](planner& p) {
                               p.copy(p.input(), p.output(), 4);
                               auto c = sub(collective::allreduce, p.input(), p.output(), 4);
                               c.in_place = p.rank() == 0;
                               p.call_on(p.all(), c);
                             }),
                       "whether it is in place"));
}

TEST(rules, an_area_that_a_call_writes_is_not_read_before_the_wait) {
  EXPECT_TRUE(contains(found(call_for(collective::allreduce, 2, 4),
                             [](planner& p) {
                               const area scratch_area = p.scratch(4);
                               p.copy(p.input(), scratch_area, 4);
                               const auto t =
                                   p.start(p.all(), sub(collective::allreduce, p.input(), scratch_area, 4));
                               p.copy(scratch_area, p.output(), 4);
                               p.wait(t);
                             }),
                       "into which call 0 (allreduce) writes"));
}

TEST(rules, an_area_that_a_call_reads_is_not_written_before_the_wait) {
  EXPECT_TRUE(contains(found(call_for(collective::allreduce, 2, 4),
                             [](planner& p) {
                               const area scratch_area = p.scratch(4);
                               p.copy(p.input(), scratch_area, 4);
                               const auto t =
                                   p.start(p.all(), sub(collective::allreduce, scratch_area, p.output(), 4));
                               p.copy(p.input(), scratch_area, 1);
                               p.wait(t);
                             }),
                       "in use by call 0 (allreduce)"));
}

TEST(rules, a_call_writes_beside_what_it_reads) {
  EXPECT_TRUE(contains(
      found(call_for(collective::allreduce, 2, 4, 0, true),
            [](planner& p) { p.call_on(p.all(), sub(collective::allreduce, p.output(), p.output(), 4)); }),
      "its operand"));
}

TEST(rules, scratch_holds_nothing_at_first) {
  EXPECT_TRUE(contains(
      found(call_for(collective::allreduce, 2, 4),
            [](planner& p) { p.call_on(p.all(), sub(collective::allreduce, p.scratch(4), p.output(), 4)); }),
      "is nothing"));
}

TEST(rules, the_input_is_not_written) {
  EXPECT_TRUE(contains(found(call_for(collective::bcast, 2, 4),
                             [](planner& p) {
                               const area data = p.rank() == 0 ? p.input() : p.output();
                               p.call_on(p.all(), sub(collective::bcast, data, data, 4));
                               if (p.rank() == 0) p.copy(p.input(), p.input() + 2, 2);
                             }),
                       "writes input"));
}

TEST(rules, only_the_root_of_a_reduce_has_an_output) {
  const abstract_call p = call_for(collective::reduce, 2, 4);
  EXPECT_TRUE(contains(
      found(p, [](planner& q) { q.call_on(q.all(), sub(collective::allreduce, q.input(), q.output(), 4)); }),
      "exceeds the 0 elements"));
}

TEST(rules, an_operand_lent_in_an_output_stays) {
  const abstract_call p = call_for(collective::reduce, 2, 4, 0, true);
  EXPECT_TRUE(contains(found(
                           p,
                           [](planner& q) {
                             auto c = sub(collective::allreduce, q.operand(), q.output(), 4);
                             c.in_place = true;
                             q.call_on(q.all(), c);
                           },
                           true),
                       "only holds its operand"));
}

TEST(rules, gaps_of_the_caller_stay) {
  case_options w;
  w.what = collective::allgatherv;
  w.ranks = 3;
  w.count = 4;
  EXPECT_TRUE(contains(found(make_abstract_call(w),
                             [](planner& p) {
                               const area scratch_area = p.scratch(1);
                               p.copy(p.input(), scratch_area, 1);
                               p.copy(scratch_area, p.output(), 1);
                             }),
                       "is not its own"));
}

TEST(rules, places_beyond_a_buffer_are_found) {
  EXPECT_TRUE(contains(
      found(call_for(collective::allreduce, 2, 4), [](planner& p) { p.copy(p.input(), p.output() + 1, 4); }),
      "exceeds the 4 elements"));
}

TEST(rules, two_blocks_at_one_place_are_found) {
  EXPECT_TRUE(contains(found(call_for(collective::allgather, 2, 2),
                             [](planner& p) {
                               auto c = sub(collective::allgatherv, p.input(), p.output(), 2);
                               c.out_counts = {2, 2};
                               c.out_displs = {0, 1};
                               p.call_on(p.all(), c);
                             }),
                       "twice"));
}

TEST(rules, a_barrier_ends_after_all_ranks_have_entered) {
  EXPECT_TRUE(contains(found(call_for(collective::barrier, 4, 0),
                             [](planner& p) {
                               const int first = p.rank() / 2 * 2;
                               p.call_on(p.list({first, first + 1}), sub(collective::barrier, {}, {}, 0));
                             }),
                       "may leave the barrier before rank 2"));
}

TEST(rules, operands_combine_in_the_order_of_ranks) {
  EXPECT_TRUE(
      contains(found(call_for(collective::allreduce, 2, 1),
                     [](planner& p) {
                       p.call_on(p.list({1, 0}), sub(collective::allreduce, p.input(), p.output(), 1));
                     }),
               "is r1[0] r0[0], not r0[0] r1[0]"));
}

TEST(rules, the_catalogue_has_what_the_documents_name) {
  for (const char* name : {"allreduce/reduce_bcast", "allgather/gather_bcast", "allgatherv/gatherv_bcast",
                           "reduce_scatter/reduce_then_scatter", "bcast/pipeline", "scan/pipeline",
                           "barrier/node_leader", "scatter/node_leader", "exscan/node_leader",
                           "reduce_scatter_block/node_leader", "alltoall/node_leader",
                           "allreduce/multi_leader", "reduce/pipelined_hierarchical", "alltoall/multi_lane",
                           "scan/multi_lane", "alltoallv/staged_buffer", "gatherv/blocking_by_nonblocking"})
    EXPECT_NE(named(name), nullptr) << name;
}

}  // namespace
}  // namespace tutti::proof
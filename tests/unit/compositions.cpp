// SPDX-License-Identifier: Apache-2.0
//
// Every composition of the catalogue, proved on symbols over layouts, ranks, roots, counts and operators; and
// the proof itself: faults planted in right programs are found, and said.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "check/composed_cases.hpp"
#include "check/programs.hpp"

namespace tutti::check {
namespace {

const composed_algorithm* named(std::string_view name) {
  for (const composed_algorithm* c : composition_catalogue())
    if (c->name == name) return c;
  return nullptr;
}

// --- all of the catalogue

class composition : public testing::TestWithParam<const composed_algorithm*> {};

TEST_P(composition, gives_what_its_collective_defines) {
  proof all;
  for (int p = 1; p <= 17; ++p) all += prove(*GetParam(), p);
  all += prove(*GetParam(), 96);
  all += prove(*GetParam(), 101);
  for (const finding& f : all.findings)
    ADD_FAILURE() << f.algorithm << ": " << f.call << "\n  rank " << f.what.rank << ", step " << f.what.round
                  << ": " << f.what.what;
  EXPECT_GT(all.calls, 40u);
}

std::string test_name(const testing::TestParamInfo<const composed_algorithm*>& info) {
  std::string all(info.param->name);
  for (char& c : all)
    if (c == '/') c = '_';
  return all;
}
const auto everything = testing::ValuesIn(composition_catalogue().begin(), composition_catalogue().end());
INSTANTIATE_TEST_SUITE_P(catalogue, composition, everything, test_name);

// --- spoilt programs of right compositions

struct planted {
  std::string name;
  std::function<bool(program&, std::size_t step)> spoil;  // false: there is nothing of the kind
};

hierarchy nodes(std::vector<int> node_of) {
  return hierarchy(std::vector<std::vector<int>>{std::move(node_of)});
}

class spoilt : public testing::TestWithParam<const composed_algorithm*> {};

// Spoils every step of every rank below `ranks`, one at a time; all of them must be found. Returns how many
// there were.
int expect_found(const composed_algorithm& c, const planted& fault_of, std::size_t ranks = 4) {
  const hierarchy layout = nodes({0, 0, 1, 1});
  int tried = 0;
  for (const bool in_place : {false, true}) {
    if (!serves(c, layout, combines(c.what), in_place, 7) || (in_place && c.what == collective::bcast))
      continue;
    wish w;
    w.what = c.what;
    w.ranks = 4;
    w.root = is_rooted(c.what) ? 3 : 0;
    w.count = 7;
    w.ordered = combines(c.what);
    w.in_place = in_place;
    w.knobs = c.usual();
    w.knobs[static_cast<std::size_t>(knob::segment)] = 16;
    const plan p = make_plan(w);
    const auto right = programs_of(c.plan, p, layout);
    EXPECT_TRUE(run_programs(p, right).ok()) << p.text();
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t step = 0; step < right[r].steps.size(); ++step) {
        auto wrong = right;
        if (!fault_of.spoil(wrong[r], step)) continue;
        ++tried;
        EXPECT_FALSE(run_programs(p, wrong).ok())
            << c.name << ": " << fault_of.name << " in step " << step << " of rank " << r << ", " << p.text();
      }
  }
  return tried;
}

bool is(const program& p, std::size_t step, program_step::kind what) { return p.steps[step].what == what; }
subcall& call_at(program& p, std::size_t step) { return p.calls[p.steps[step].which]; }

TEST_P(spoilt, a_wait_taken_out_is_found) {
  const auto tried =
      expect_found(*GetParam(), {"no wait", [](program& p, std::size_t step) {
                                   if (!is(p, step, program_step::kind::wait)) return false;
                                   p.steps.erase(p.steps.begin() + static_cast<std::ptrdiff_t>(step));
                                   return true;
                                 }});
  EXPECT_GT(tried, 0);
}

TEST_P(spoilt, a_call_that_one_member_does_not_make_is_found) {
  expect_found(*GetParam(), {"no call", [](program& p, std::size_t step) {
                               if (!is(p, step, program_step::kind::start)) return false;
                               const auto which = p.steps[step].which;
                               std::erase_if(p.steps, [&](const program_step& s) {
                                 return s.which == which && s.what <= program_step::kind::wait;
                               });
                               return true;
                             }});
}

TEST_P(spoilt, a_wrong_root_is_found) {
  expect_found(*GetParam(),
               {"wrong root", [](program& p, std::size_t step) {
                  if (!is(p, step, program_step::kind::start) || !is_rooted(call_at(p, step).what))
                    return false;
                  subcall& c = call_at(p, step);
                  const auto members = c.group == 0 ? 4 : p.groups[static_cast<std::size_t>(c.group)].size();
                  c.root = (c.root + 1) % static_cast<int>(members);
                  return true;
                }});
}

TEST_P(spoilt, another_collective_is_found) {
  expect_found(*GetParam(), {"wrong collective", [](program& p, std::size_t step) {
                               if (!is(p, step, program_step::kind::start)) return false;
                               subcall& c = call_at(p, step);
                               c.what = c.what == collective::barrier ? collective::allreduce
                                                                      : collective::barrier;
                               return true;
                             }});
}

TEST_P(spoilt, a_moved_result_is_found) {
  expect_found(*GetParam(), {"moved", [](program& p, std::size_t step) {
                               if (is(p, step, program_step::kind::copy)) {
                                 p.copies[p.steps[step].which].to.at += 1;
                                 return true;
                               }
                               if (is(p, step, program_step::kind::combine)) {
                                 p.combinations[p.steps[step].which].to.at += 1;
                                 return true;
                               }
                               if (!is(p, step, program_step::kind::start)) return false;
                               subcall& c = call_at(p, step);
                               const bool everywhere =
                                   c.what == collective::allreduce || c.what == collective::scan ||
                                   c.what == collective::allgather || c.what == collective::alltoall;
                               if (!everywhere || c.count == 0) return false;
                               c.output.at += 1;
                               return true;
                             }});
}

TEST_P(spoilt, swapped_operands_are_found) {
  // Nobody needs the sum of the last node in an exscan.
  const std::size_t ranks = GetParam()->what == collective::exscan ? 2 : 4;
  expect_found(*GetParam(),
               {"swapped",
                [](program& p, std::size_t step) {
                  if (!is(p, step, program_step::kind::combine)) return false;
                  auto& c = p.combinations[p.steps[step].which];
                  std::swap(c.left, c.right);
                  return true;
                }},
               ranks);
}

INSTANTIATE_TEST_SUITE_P(catalogue, spoilt, everything, test_name);

// --- the rules one by one

using body = std::function<void(planner&)>;

std::string found(const plan& p, const body& write, bool everywhere = false) {
  const hierarchy layout(p.ranks);
  std::vector<program> all;
  for (int r = 0; r < p.ranks; ++r) {
    const call c = call_of(p, r, everywhere);
    planner one(c, r, layout, p.knobs);
    write(one);
    all.push_back(one.finish());
  }
  const auto o = run_programs(p, all, everywhere);
  return o.ok() ? "" : o.faults[0].what;
}

plan call_for(collective what, int ranks, std::size_t count, int root = 0, bool in_place = false) {
  wish w;
  w.what = what;
  w.ranks = ranks;
  w.count = count;
  w.root = root;
  w.ordered = true;
  w.in_place = in_place;
  w.blocks = blocks_are::even;
  return make_plan(w);
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

testing::AssertionResult says(const std::string& text, std::string_view part) {
  if (text.find(part) != text.npos) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "it says: \"" << text << "\"";
}

TEST(rules, a_right_program_passes) {
  EXPECT_EQ(
      found(call_for(collective::allreduce, 3, 4),
            [](planner& p) { p.call_on(p.all(), sub(collective::allreduce, p.input(), p.output(), 4)); }),
      "");
}

TEST(rules, members_that_wait_for_different_calls_are_a_deadlock) {
  EXPECT_TRUE(says(found(call_for(collective::barrier, 3, 0),
                         [](planner& p) {
                           if (p.rank() == 1)
                             p.skip();
                           else
                             p.call_on(p.all(), sub(collective::barrier, {}, {}, 0));
                         }),
                   "not made by 1"));
}

TEST(rules, crossed_calls_are_a_deadlock) {
  EXPECT_TRUE(says(found(call_for(collective::barrier, 2, 0),
                         [](planner& p) {
                           const auto b = sub(collective::barrier, {}, {}, 0);
                           if (p.rank() == 1) p.skip();
                           p.call_on(p.all(), b);
                           if (p.rank() == 0) p.skip();
                         }),
                   "nobody can go on"));
}

TEST(rules, a_count_that_differs_is_said) {
  EXPECT_TRUE(says(found(call_for(collective::allreduce, 2, 4),
                         [](planner& p) {
                           p.call_on(p.all(), sub(collective::allreduce, p.input(), p.output(),
                                                  p.rank() == 0 ? 4 : 3));
                         }),
                   "differ in the count"));
}

TEST(rules, in_place_here_and_not_there_is_said) {
  EXPECT_TRUE(says(found(call_for(collective::allreduce, 2, 4),
                         [](planner& p) {
                           p.copy(p.input(), p.output(), 4);
                           auto c = sub(collective::allreduce, p.input(), p.output(), 4);
                           c.in_place = p.rank() == 0;
                           p.call_on(p.all(), c);
                         }),
                   "being in place"));
}

TEST(rules, an_area_that_a_call_writes_is_not_read_before_the_wait) {
  EXPECT_TRUE(says(found(call_for(collective::allreduce, 2, 4),
                         [](planner& p) {
                           const area aside = p.scratch(4);
                           p.copy(p.input(), aside, 4);
                           const auto t = p.start(p.all(), sub(collective::allreduce, p.input(), aside, 4));
                           p.copy(aside, p.output(), 4);
                           p.wait(t);
                         }),
                   "into which call 0 (allreduce) writes"));
}

TEST(rules, an_area_that_a_call_reads_is_not_written_before_the_wait) {
  EXPECT_TRUE(says(found(call_for(collective::allreduce, 2, 4),
                         [](planner& p) {
                           const area aside = p.scratch(4);
                           p.copy(p.input(), aside, 4);
                           const auto t = p.start(p.all(), sub(collective::allreduce, aside, p.output(), 4));
                           p.copy(p.input(), aside, 1);
                           p.wait(t);
                         }),
                   "which call 0 (allreduce) has"));
}

TEST(rules, a_call_writes_beside_what_it_reads) {
  EXPECT_TRUE(says(
      found(call_for(collective::allreduce, 2, 4, 0, true),
            [](planner& p) { p.call_on(p.all(), sub(collective::allreduce, p.output(), p.output(), 4)); }),
      "its operand"));
}

TEST(rules, scratch_holds_nothing_at_first) {
  EXPECT_TRUE(says(
      found(call_for(collective::allreduce, 2, 4),
            [](planner& p) { p.call_on(p.all(), sub(collective::allreduce, p.scratch(4), p.output(), 4)); }),
      "is nothing"));
}

TEST(rules, the_input_is_not_written) {
  EXPECT_TRUE(says(found(call_for(collective::bcast, 2, 4),
                         [](planner& p) {
                           const area data = p.rank() == 0 ? p.input() : p.output();
                           p.call_on(p.all(), sub(collective::bcast, data, data, 4));
                           if (p.rank() == 0) p.copy(p.input(), p.input() + 2, 2);
                         }),
                   "writes input"));
}

TEST(rules, only_the_root_of_a_reduce_has_an_output) {
  const plan p = call_for(collective::reduce, 2, 4);
  EXPECT_TRUE(says(
      found(p, [](planner& q) { q.call_on(q.all(), sub(collective::allreduce, q.input(), q.output(), 4)); }),
      "beyond the 0 elements"));
}

TEST(rules, an_operand_lent_in_an_output_stays) {
  const plan p = call_for(collective::reduce, 2, 4, 0, true);
  EXPECT_TRUE(says(found(
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
  wish w;
  w.what = collective::allgatherv;
  w.ranks = 3;
  w.count = 4;
  EXPECT_TRUE(says(found(make_plan(w),
                         [](planner& p) {
                           const area aside = p.scratch(1);
                           p.copy(p.input(), aside, 1);
                           p.copy(aside, p.output(), 1);
                         }),
                   "is not its own"));
}

TEST(rules, places_beyond_a_buffer_are_found) {
  EXPECT_TRUE(says(
      found(call_for(collective::allreduce, 2, 4), [](planner& p) { p.copy(p.input(), p.output() + 1, 4); }),
      "beyond the 4 elements"));
}

TEST(rules, two_blocks_at_one_place_are_found) {
  EXPECT_TRUE(says(found(call_for(collective::allgather, 2, 2),
                         [](planner& p) {
                           auto c = sub(collective::allgatherv, p.input(), p.output(), 2);
                           c.out_counts = {2, 2};
                           c.out_displs = {0, 1};
                           p.call_on(p.all(), c);
                         }),
                   "twice"));
}

TEST(rules, who_leaves_a_barrier_has_met_all) {
  EXPECT_TRUE(says(found(call_for(collective::barrier, 4, 0),
                         [](planner& p) {
                           const int first = p.rank() / 2 * 2;
                           p.call_on(p.list({first, first + 1}), sub(collective::barrier, {}, {}, 0));
                         }),
                   "may leave the barrier before rank 2"));
}

TEST(rules, operands_combine_in_the_order_of_ranks) {
  EXPECT_TRUE(says(found(call_for(collective::allreduce, 2, 1),
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
}  // namespace tutti::check

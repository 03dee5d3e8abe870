// SPDX-License-Identifier: Apache-2.0
//
// Tests that the proof detects errors planted in the plans of right compositions.
#include <functional>
#include <string>
#include <utility>

#include "unit/compositions/every_composition.hpp"

namespace tutti::proof {
namespace {

struct planted {
  std::string name;
  // Returns false if the plan has no such step.
  std::function<bool(composite_plan&, std::size_t step)> mutate;
};

hierarchy nodes(std::vector<int> node_of) {
  return hierarchy(std::vector<std::vector<int>>{std::move(node_of)});
}

class mutated : public on_every_composition {};

// Mutates every step of every rank below `ranks`, one at a time; the proof must detect all
// mutations. Returns their number.
int expect_found(const composed_algorithm& c, const planted& fault_of, std::size_t ranks = 4) {
  const hierarchy topology = nodes({0, 0, 1, 1});
  int mutation_count = 0;
  for (const bool in_place : {false, true}) {
    if (!serves(c, topology, combines(c.what), in_place, 7) || (in_place && c.what == collective::bcast))
      continue;
    case_options w;
    w.what = c.what;
    w.ranks = 4;
    w.root = is_rooted(c.what) ? 3 : 0;
    w.count = 7;
    w.ordered = combines(c.what);
    w.in_place = in_place;
    w.parameter_values = c.default_values();
    w.parameter_values[static_cast<std::size_t>(algorithm_parameter::segment)] = 16;
    const abstract_call p = make_abstract_call(w);
    const auto right = make_composite_plans(c.plan, p, topology);
    EXPECT_TRUE(run_composite_plans(p, right).ok()) << p.text();
    for (std::size_t r = 0; r < ranks; ++r)
      for (std::size_t step = 0; step < right[r].steps.size(); ++step) {
        auto wrong = right;
        if (!fault_of.mutate(wrong[r], step)) continue;
        ++mutation_count;
        EXPECT_FALSE(run_composite_plans(p, wrong).ok())
            << c.name << ": " << fault_of.name << " in step " << step << " of rank " << r << ", " << p.text();
      }
  }
  return mutation_count;
}

bool is(const composite_plan& p, std::size_t step, composite_step::kind what) {
  return p.steps[step].what == what;
}
subcall& call_at(composite_plan& p, std::size_t step) { return p.calls[p.steps[step].which]; }

TEST_P(mutated, a_wait_taken_out_is_found) {
  const auto mutation_count =
      expect_found(*GetParam(), {"no wait", [](composite_plan& p, std::size_t step) {
                                   if (!is(p, step, composite_step::kind::wait)) return false;
                                   p.steps.erase(p.steps.begin() + static_cast<std::ptrdiff_t>(step));
                                   return true;
                                 }});
  EXPECT_GT(mutation_count, 0);
}

TEST_P(mutated, a_call_that_one_member_does_not_make_is_found) {
  expect_found(*GetParam(), {"no call", [](composite_plan& p, std::size_t step) {
                               if (!is(p, step, composite_step::kind::start)) return false;
                               const auto which = p.steps[step].which;
                               std::erase_if(p.steps, [&](const composite_step& s) {
                                 return s.which == which && s.what <= composite_step::kind::wait;
                               });
                               return true;
                             }});
}

TEST_P(mutated, a_wrong_root_is_found) {
  expect_found(*GetParam(),
               {"wrong root", [](composite_plan& p, std::size_t step) {
                  if (!is(p, step, composite_step::kind::start) || !is_rooted(call_at(p, step).what))
                    return false;
                  subcall& c = call_at(p, step);
                  const auto members = c.group == 0 ? 4 : p.groups[static_cast<std::size_t>(c.group)].size();
                  c.root = (c.root + 1) % static_cast<int>(members);
                  return true;
                }});
}

TEST_P(mutated, another_collective_is_found) {
  expect_found(*GetParam(), {"wrong collective", [](composite_plan& p, std::size_t step) {
                               if (!is(p, step, composite_step::kind::start)) return false;
                               subcall& c = call_at(p, step);
                               c.what = c.what == collective::barrier ? collective::allreduce
                                                                      : collective::barrier;
                               return true;
                             }});
}

TEST_P(mutated, a_moved_result_is_found) {
  expect_found(*GetParam(), {"moved", [](composite_plan& p, std::size_t step) {
                               if (is(p, step, composite_step::kind::copy)) {
                                 p.copies[p.steps[step].which].to.offset += 1;
                                 return true;
                               }
                               if (is(p, step, composite_step::kind::combine)) {
                                 p.combinations[p.steps[step].which].to.offset += 1;
                                 return true;
                               }
                               if (!is(p, step, composite_step::kind::start)) return false;
                               subcall& c = call_at(p, step);
                               const bool everywhere =
                                   c.what == collective::allreduce || c.what == collective::scan ||
                                   c.what == collective::allgather || c.what == collective::alltoall;
                               if (!everywhere || c.count == 0) return false;
                               c.output.offset += 1;
                               return true;
                             }});
}

TEST_P(mutated, swapped_operands_are_found) {
  // In an exscan no rank needs the sum of the last node.
  const std::size_t ranks = GetParam()->what == collective::exscan ? 2 : 4;
  expect_found(*GetParam(),
               {"swapped",
                [](composite_plan& p, std::size_t step) {
                  if (!is(p, step, composite_step::kind::combine)) return false;
                  auto& c = p.combinations[p.steps[step].which];
                  std::swap(c.left, c.right);
                  return true;
                }},
               ranks);
}

INSTANTIATE_TEST_SUITE_P(catalogue, mutated, on_every_composition::all(), on_every_composition::name);

}  // namespace
}  // namespace tutti::proof

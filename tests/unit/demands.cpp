// SPDX-License-Identifier: Apache-2.0
//
// Tests the meaning of each restriction: a call that meets it and one that does not, and the reason
// given for the second.
#include <functional>
#include <string>

#include <gtest/gtest.h>

#include "selection/restrictions.hpp"

namespace tutti::detail {
namespace {

// Four ranks on two nodes, a vector of eight doubles.
selection_context default_values() {
  selection_context s;
  s.call = {collective::allreduce, 4, 8, 8, element_kind::f64, builtin_op::sum, true, false, false};
  s.nodes = 2;
  s.ranks_per_node = 2;
  s.shared_memory = true;
  return s;
}

struct restriction_case {
  restriction which;
  std::function<void(selection_context&)> met, broken;
  const char* text;
};
const restriction_case cases[] = {
    {restriction::power_of_two, [](selection_context&) {}, [](selection_context& s) { s.call.ranks = 6; },
     "power of two"},
    {restriction::even_ranks, [](selection_context&) {}, [](selection_context& s) { s.call.ranks = 5; },
     "even number"},
    {restriction::commutative, [](selection_context&) {},
     [](selection_context& s) { s.call.commutative = false; }, "declared commutative"},
    {restriction::builtin_op, [](selection_context&) {},
     [](selection_context& s) { s.call.op = builtin_op::user; }, "standard operator"},
    {restriction::not_in_place, [](selection_context&) {},
     [](selection_context& s) { s.call.in_place = true; }, "does not work in place"},
    {restriction::in_place, [](selection_context& s) { s.call.in_place = true; }, [](selection_context&) {},
     "in place only"},
    {restriction::count_ge_ranks, [](selection_context&) {}, [](selection_context& s) { s.call.count = 3; },
     "as many elements as ranks"},
    {restriction::inter, [](selection_context& s) { s.call.inter = true; }, [](selection_context&) {},
     "two groups only"},
    {restriction::hierarchical, [](selection_context&) {},
     [](selection_context& s) {
       s.nodes = 1;
       s.ranks_per_node = 4;
     },
     "several nodes"},
    {restriction::equal_nodes, [](selection_context&) {}, [](selection_context& s) { s.ranks_per_node = 0; },
     "same number of ranks"},
    {restriction::node_consecutive, [](selection_context&) {},
     [](selection_context& s) { s.node_consecutive = false; }, "scattered"},
    {restriction::rank_order, [](selection_context& s) { s.node_consecutive = false; },
     [](selection_context& s) {
       s.node_consecutive = false;
       s.call.commutative = false;
     },
     "order of operands"},
    {restriction::parent, [](selection_context&) {}, [](selection_context& s) { s.whole_job = false; },
     "whole job"},
    {restriction::peer_readable, [](selection_context&) {},
     [](selection_context& s) { s.shared_memory = false; }, "one another's memory"},
};

catalogue_entry demanding(restriction which) {
  catalogue_entry e;
  e.name = "allreduce/imagined";
  e.what = collective::allreduce;
  e.restrictions = which;
  return e;
}

TEST(demands, are_met_or_reported) {
  for (const restriction_case& c : cases) {
    const catalogue_entry e = demanding(c.which);
    selection_context met = default_values(), broken = default_values();
    c.met(met);
    c.broken(broken);
    EXPECT_TRUE(meets_demands(e, {}, met)) << c.text;
    EXPECT_EQ(unmet_demands(e, {}, met), "");
    EXPECT_FALSE(meets_demands(e, {}, broken)) << c.text;
    EXPECT_NE(unmet_demands(e, {}, broken).find(c.text), std::string::npos) << unmet_demands(e, {}, broken);
  }
}

TEST(demands, are_all_reported_together) {
  selection_context s = default_values();
  s.call.ranks = 5;
  s.call.commutative = false;
  const catalogue_entry e = demanding(restriction::power_of_two | restriction::commutative);
  const std::string text = unmet_demands(e, {}, s);
  EXPECT_NE(text.find("power of two"), std::string::npos);
  EXPECT_NE(text.find("commutative"), std::string::npos);
}

TEST(demands, all_buffers_are_memory_of_the_host) {
  EXPECT_TRUE(meets_demands(demanding(restriction::host_memory), {}, default_values()));
}

TEST(demands, every_restriction_has_a_case_here) {
  std::size_t exceptions = 0;  // equal_regions depends on a parameter; host_memory is always met
  for (const restriction_name& n : restriction_names)
    if (n.which == restriction::equal_regions || n.which == restriction::host_memory) ++exceptions;
  EXPECT_EQ(std::size(cases) + exceptions, std::size(restriction_names));
}

}  // namespace
}  // namespace tutti::detail

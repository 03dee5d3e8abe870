// SPDX-License-Identifier: Apache-2.0
//
// What each restriction means: a call that meets it and one that does not, and what is said of the second.
#include "select/demands.hpp"

#include <functional>
#include <string>

#include <gtest/gtest.h>

namespace tutti {
namespace {

// Four ranks on two nodes, a vector of eight doubles.
situation usual() {
  situation s;
  s.call = {collective::allreduce, 4, 8, 8, element_kind::f64, builtin_op::sum, true, false, false};
  s.nodes = 2;
  s.ranks_per_node = 2;
  s.shared_memory = true;
  return s;
}

struct restriction_case {
  restriction which;
  std::function<void(situation&)> met, broken;
  const char* said;
};
const restriction_case cases[] = {
    {restriction::power_of_two, [](situation&) {}, [](situation& s) { s.call.ranks = 6; }, "power of two"},
    {restriction::even_ranks, [](situation&) {}, [](situation& s) { s.call.ranks = 5; }, "even number"},
    {restriction::commutative, [](situation&) {}, [](situation& s) { s.call.commutative = false; },
     "declared commutative"},
    {restriction::builtin_op, [](situation&) {}, [](situation& s) { s.call.op = builtin_op::user; },
     "standard operator"},
    {restriction::not_in_place, [](situation&) {}, [](situation& s) { s.call.in_place = true; },
     "does not work in place"},
    {restriction::in_place, [](situation& s) { s.call.in_place = true; }, [](situation&) {}, "in place only"},
    {restriction::count_ge_ranks, [](situation&) {}, [](situation& s) { s.call.count = 3; },
     "as many elements as ranks"},
    {restriction::inter, [](situation& s) { s.call.inter = true; }, [](situation&) {}, "two groups only"},
    {restriction::hierarchical, [](situation&) {},
     [](situation& s) {
       s.nodes = 1;
       s.ranks_per_node = 4;
     },
     "several nodes"},
    {restriction::equal_nodes, [](situation&) {}, [](situation& s) { s.ranks_per_node = 0; },
     "as many ranks"},
    {restriction::node_consecutive, [](situation&) {}, [](situation& s) { s.node_consecutive = false; },
     "scattered"},
    {restriction::rank_order, [](situation& s) { s.node_consecutive = false; },
     [](situation& s) {
       s.node_consecutive = false;
       s.call.commutative = false;
     },
     "order of operands"},
    {restriction::parent, [](situation&) {}, [](situation& s) { s.whole_job = false; }, "whole job"},
    {restriction::peer_readable, [](situation&) {}, [](situation& s) { s.shared_memory = false; },
     "one another's memory"},
};

catalogue_entry demanding(restriction which) {
  catalogue_entry e;
  e.name = "allreduce/imagined";
  e.what = collective::allreduce;
  e.needs = which;
  return e;
}

TEST(demands, are_met_or_said) {
  for (const restriction_case& c : cases) {
    const catalogue_entry e = demanding(c.which);
    situation met = usual(), broken = usual();
    c.met(met);
    c.broken(broken);
    EXPECT_TRUE(meets_demands(e, {}, met)) << c.said;
    EXPECT_EQ(unmet_demands(e, {}, met), "");
    EXPECT_FALSE(meets_demands(e, {}, broken)) << c.said;
    EXPECT_NE(unmet_demands(e, {}, broken).find(c.said), std::string::npos) << unmet_demands(e, {}, broken);
  }
}

TEST(demands, of_everything_are_said_together) {
  situation s = usual();
  s.call.ranks = 5;
  s.call.commutative = false;
  const catalogue_entry e = demanding(restriction::power_of_two | restriction::commutative);
  const std::string said = unmet_demands(e, {}, s);
  EXPECT_NE(said.find("power of two"), std::string::npos);
  EXPECT_NE(said.find("commutative"), std::string::npos);
}

TEST(demands, all_buffers_are_memory_of_the_host) {
  EXPECT_TRUE(meets_demands(demanding(restriction::host_memory), {}, usual()));
}

TEST(demands, every_restriction_has_a_case_here) {
  std::size_t apart = 0;  // equal_regions is a parameter's; host_memory is met always
  for (const restriction_name& n : restriction_names)
    if (n.which == restriction::equal_regions || n.which == restriction::host_memory) ++apart;
  EXPECT_EQ(std::size(cases) + apart, std::size(restriction_names));
}

}  // namespace
}  // namespace tutti

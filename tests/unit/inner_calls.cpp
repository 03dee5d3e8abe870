// SPDX-License-Identifier: Apache-2.0
//
// Which inner calls of a composition may be native: those on all ranks, in order, and not those
// that overlap between nodes.
#include "selection/inner_calls.hpp"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace tutti;
using namespace tutti::detail;

struct inner_call_case {
  int nodes = 4;
  bool nonblocking = false;  // the inner call
  bool blocking = true;      // the outer call
  std::uint32_t sequence_number = 3;
  std::int32_t group = 0;
};

bool may_be_native(const inner_call_case& is) {
  std::vector<int> node_of;
  for (int r = 0; r < 8; ++r) node_of.push_back(r * is.nodes / 8);
  const hierarchy topology({node_of});
  call outer;
  outer.what = collective::reduce;
  outer.type.size = sizeof(double);
  selection_context context;
  context.call = agreed_part(outer, 8);
  context.set_topology(topology);
  subcall sub;
  sub.what = collective::reduce;
  sub.count = 512;
  sub.nonblocking = is.nonblocking;
  sub.sequence_number = is.sequence_number;
  sub.group = is.group;
  const std::vector<int> ranks = is.group == 0 ? std::vector<int>{} : std::vector<int>{0, 1};
  return inner_selection_context(context, outer, sub, ranks, topology, is.blocking,
                                 [](const agreed_signature&) { return native_offer::any; })
      .may_be_native();
}

TEST(inner_calls, on_all_ranks_may_be_native) { EXPECT_TRUE(may_be_native({})); }

TEST(inner_calls, on_some_ranks_may_not) { EXPECT_FALSE(may_be_native({.group = 1})); }

TEST(inner_calls, of_a_nonblocking_call_only_the_first_may) {
  EXPECT_TRUE(may_be_native({.blocking = false, .sequence_number = 0}));
  EXPECT_FALSE(may_be_native({.blocking = false, .sequence_number = 1}));
}

TEST(inner_calls, that_overlap_may_be_native_within_a_node_only) {
  EXPECT_TRUE(may_be_native({.nodes = 1, .nonblocking = true}));
  EXPECT_FALSE(may_be_native({.nodes = 2, .nonblocking = true}));
  EXPECT_FALSE(may_be_native({.nodes = 8, .nonblocking = true}));
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// The store of schedules: what is written once, what is found again, and what is rejected.
#include "communicator/schedule_store.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/fake_engine.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

struct a_schedule_store : testing::Test {
  call bcast(int root, std::size_t count, const char* algorithm = nullptr) {
    call c;
    c.what = collective::bcast;
    c.type = element_of<int>();
    c.count = count;
    c.root = root;
    c.input = c.output = data;
    c.algorithm = algorithm;
    return c;
  }

  int data[4] = {};
  tests::fake_endpoint ep{1, 4};
  std::shared_ptr<rank_state> rank = tests::fake_rank(ep);
  communicator_state state{rank, group::range(0, 1, 4, 1), group_name{1, 1}};
  schedule_store store{state};
};

TEST_F(a_schedule_store, opens_the_engine_and_writes_a_schedule_once) {
  EXPECT_EQ(ep.record.opened, 0);
  prepared_call& first = store.find(bcast(0, 1, "knomial"));
  EXPECT_EQ(ep.record.opened, 1);
  EXPECT_STREQ(first.name, "bcast/knomial");
  ASSERT_NE(first.bound, nullptr);
  EXPECT_FALSE(first.is_native());
  EXPECT_FALSE(first.is_composed());
  EXPECT_EQ(&store.find(bcast(0, 77, "knomial")), &first);  // schedules do not depend on counts
  EXPECT_EQ(store.size(), 1u);
  EXPECT_NE(&store.find(bcast(2, 1, "knomial")), &first);
  EXPECT_NE(&store.find(bcast(0, 1, "linear")), &first);
  EXPECT_EQ(store.size(), 3u);
  EXPECT_EQ(ep.record.opened, 1);
}

TEST_F(a_schedule_store, finds_the_collectives_of_the_engine) {
  ep.record.offer = native_offer::any;
  prepared_call& p = store.find(bcast(0, 1, "native"));
  EXPECT_TRUE(p.is_native());
  EXPECT_STREQ(p.name, "bcast/native");
}

TEST_F(a_schedule_store, rejects_a_name_that_does_not_serve_if_the_settings_say_so) {
  rank->config.when_unfit = fallback::error;
  EXPECT_THROW(store.find(bcast(0, 1, "native")), usage_error);
  EXPECT_EQ(store.size(), 0u);
  rank->config.when_unfit = fallback::silent;
  EXPECT_NE(std::string(store.find(bcast(0, 1, "native")).name), "bcast/native");
}

TEST_F(a_schedule_store, plans_a_composition_with_the_schedules_of_its_calls) {
  double in[8] = {}, out[8] = {};
  call c;
  c.what = collective::allreduce;
  c.type = element_of<double>();
  c.count = 8;
  c.input = in;
  c.output = out;
  c.op = {[](const void*, const void*, void*, std::size_t, void*) {}, nullptr, builtin_op::sum, true};
  c.composition = "reduce_bcast";
  const prepared_call& p = store.find(c);
  ASSERT_TRUE(p.is_composed());
  const auto plan = store.plan(c, p, true);
  EXPECT_TRUE(plan->serves(c));
  EXPECT_EQ(store.inner_size(), 2u);  // a reduce and a bcast
  EXPECT_TRUE(store.plan(c, p, false)->serves(c));
  EXPECT_EQ(store.inner_size(), 2u);
  call other = c;
  other.count = 9;
  EXPECT_FALSE(plan->serves(other));
  other = c;
  other.algorithm = "ring";
  EXPECT_FALSE(plan->serves(other));
}

}  // namespace
}  // namespace tutti::detail

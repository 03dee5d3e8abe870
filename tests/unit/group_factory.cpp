// SPDX-License-Identifier: Apache-2.0
//
// Communicators that are made from one of 8 ranks, on rank 3: their members, names and errors.
#include "communicator/group_factory.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "communicator/communicator_impl.hpp"
#include "support/fake_engine.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

struct a_group_factory : testing::Test {
  static std::vector<int> members_of(communicator_handle& made) {
    std::vector<int> all;
    for (int r = 0; r < made->size(); ++r) all.push_back(made->state().members().address(r));
    return all;
  }
  template <class Make>
  static std::string error_of(const Make& make) {
    try {
      make();
    } catch (const error& e) {
      return e.what();
    }
    return "";
  }

  tests::fake_endpoint ep{3, 8};
  std::shared_ptr<rank_state> rank = tests::fake_rank(ep);
  communicator_state parent{rank, group::range(0, 1, 8, 3), group_name{1, 1}};
  tests::fake_control control;
  checked_mode checked{parent, control};
  group_factory factory{parent, control, checked, {}};
};

using ints = std::vector<int>;

TEST_F(a_group_factory, makes_ranges_and_lists_without_a_message) {
  communicator_handle odd = factory.range(1, 7, 2), down = factory.range(5, 2, -1);
  EXPECT_EQ(members_of(odd), (ints{1, 3, 5, 7}));
  EXPECT_EQ(odd->rank(), 1);
  EXPECT_EQ(members_of(down), (ints{5, 4, 3, 2}));
  const int some[] = {6, 3, 0};
  communicator_handle listed = factory.list(some);
  EXPECT_EQ(members_of(listed), (ints{6, 3, 0}));
  EXPECT_EQ(listed->rank(), 1);
  EXPECT_TRUE(control.made.empty());
  EXPECT_EQ(ep.record.opened, 0);
}

TEST_F(a_group_factory, names_groups_equally_on_all_members_and_never_twice) {
  tests::fake_endpoint other_ep{5, 8};
  const auto other_rank = tests::fake_rank(other_ep);
  communicator_state other_parent{other_rank, group::range(0, 1, 8, 5), group_name{1, 1}};
  group_factory other{other_parent, control, checked, {}};
  communicator_handle first = factory.range(1, 7, 2), second = factory.range(1, 7, 2);
  communicator_handle theirs = other.range(1, 7, 2), their_second = other.range(1, 7, 2);
  EXPECT_EQ(first->state().name(), theirs->state().name());
  EXPECT_EQ(second->state().name(), their_second->state().name());
  EXPECT_FALSE(first->state().name() == second->state().name());
  EXPECT_FALSE(first->state().name() == factory.range(1, 5, 2)->state().name());
}

TEST_F(a_group_factory, rejects_wrong_ranges_and_lists) {
  EXPECT_NE(error_of([&] { factory.range(0, 9, 1); }).find("is 9, but ranks are 0 to 7"), std::string::npos);
  EXPECT_NE(error_of([&] { factory.range(0, 7, 2); }).find("does not lead from 0 to 7"), std::string::npos);
  EXPECT_NE(error_of([&] { factory.range(0, 6, 2); }).find("leave this rank out"), std::string::npos);
  EXPECT_NE(error_of([&] { factory.range(3, 3, 0); }).find("stride"), std::string::npos);
  const int twice[] = {3, 3}, without[] = {1, 2}, beyond[] = {3, 8};
  EXPECT_NE(error_of([&] { factory.list(twice); }).find("twice"), std::string::npos);
  EXPECT_NE(error_of([&] { factory.list(without); }).find("leaves this rank out"), std::string::npos);
  EXPECT_NE(error_of([&] { factory.list(beyond); }).find("names rank 8"), std::string::npos);
  parent.free();
  EXPECT_NE(error_of([&] { factory.range(0, 7, 1); }).find("was freed"), std::string::npos);
}

TEST_F(a_group_factory, splits_by_color_and_key_and_takes_the_largest_id) {
  control.reply = [](const call& c) {
    ASSERT_EQ(c.what, collective::allgather);
    auto* const all = static_cast<group_factory::split_request*>(c.output);
    for (int r = 0; r < 8; ++r) all[r] = {static_cast<std::uint64_t>(10 + r), r % 2, -r};
  };
  communicator_handle part = factory.split(1, -3, "split");
  EXPECT_EQ(members_of(part), (ints{7, 5, 3, 1}));
  EXPECT_EQ(part->rank(), 2);
  EXPECT_EQ(factory.next_unused_id(), 18u);
  EXPECT_FALSE(factory.split(-1, 0, "split"));
}

TEST_F(a_group_factory, rejects_bins_that_differ) {
  control.reply = [](const call& c) {
    auto* const all = static_cast<group_factory::split_request*>(c.output);
    for (int r = 0; r < 8; ++r) all[r] = {2, r % 2, r == 6 ? 5 : 4};
  };
  EXPECT_THROW(factory.split(1, 0, "split_bin", 4), mismatch_error);
}

TEST_F(a_group_factory, numbers_distinct_texts_in_their_order) {
  const std::string texts[] = {"b", "aa", "b", "c", "", "aa", "c", "b"};
  control.reply = [&](const call& c) {
    if (c.what == collective::allgather) {
      for (int r = 0; r < 8; ++r) static_cast<std::size_t*>(c.output)[r] = texts[r].size();
    } else {
      std::string all;
      for (const std::string& one : texts) all += one;
      std::memcpy(c.output, all.data(), all.size());
    }
  };
  const distinct_number found = factory.number_distinct(texts[3]);
  EXPECT_EQ(found.index, 3);
  EXPECT_EQ(found.count, 4);
}

TEST_F(a_group_factory, translates_ranks_to_other_groups) {
  communicator_handle odd = factory.range(1, 7, 2);
  EXPECT_EQ(factory.translate(5, odd->state(), "translate"), 2);
  EXPECT_EQ(factory.translate(4, odd->state(), "translate"), rank::null);
  EXPECT_EQ(factory.translate(rank::null, odd->state(), "translate"), rank::null);
  EXPECT_THROW(factory.translate(8, odd->state(), "translate"), usage_error);
}

TEST_F(a_group_factory, opens_duplicates_and_two_groups_with_unused_ids) {
  control.reply = [](const call& c) {
    ASSERT_EQ(c.what, collective::allreduce);
    *static_cast<std::uint64_t*>(c.output) += 5;
  };
  communicator_handle copy = factory.duplicate();
  EXPECT_EQ(copy->size(), 8);
  EXPECT_EQ(factory.next_unused_id(), 8u);  // 2, of which others would use 7
  communicator_handle sides = factory.with_topology({false, {}, {}, 3}, "between");
  EXPECT_TRUE(sides->state().inter());
  EXPECT_EQ(sides->state().send_block_count(collective::alltoall), 3);  // as in the other group
  EXPECT_EQ(control.made.size(), 3u);
  EXPECT_THROW(factory.with_topology({false, {}, {}, 8}, "between"), usage_error);
  EXPECT_THROW(factory.with_topology({true, {1}, {9}, 0}, "graph"), usage_error);
}

TEST_F(a_group_factory, compares_operations_that_make_communicators_in_checked_mode) {
  rank->config.check = true;
  control.reply = [](const call& c) { tests::fake_control::repeat_local(c, 8); };
  EXPECT_THROW(factory.with_topology({true, {1}, {1}, 0}, "graph"),
               mismatch_error);  // rank 1 does not name 3
  ASSERT_EQ(control.made.size(), 2u);
  EXPECT_EQ(control.made[0], collective::allgather);
  EXPECT_EQ(control.made[1], collective::alltoall);
}

}  // namespace
}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// Messages of a rank to itself, over an engine that moves none: what is checked, matched and kept.
#include "communicator/p2p_calls.hpp"

#include <string>

#include <gtest/gtest.h>

#include "support/fake_engine.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

struct p2p_calls_of_one_rank : testing::Test {
  send_args sent(int tag, const int& value) {
    return {.operation = "send", .destination = 2, .tag = tag, .data = &value, .bytes = sizeof value};
  }
  recv_args received(int source, int tag, int& value) {
    return {.operation = "recv", .source = source, .tag = tag, .into = &value, .capacity = sizeof value};
  }

  tests::fake_endpoint ep{2, 4};
  std::shared_ptr<rank_state> shared = tests::fake_rank(ep);
  communicator_state state{shared, group::range(0, 1, 4, 2), group_name{1, 1}};
  p2p_calls p2p{state};
  int x = 5, y = 7, got = 0;
};

TEST_F(p2p_calls_of_one_rank, open_the_engine_with_the_first_message) {
  EXPECT_EQ(ep.record.opened, 0);
  p2p.send(sent(1, x));
  EXPECT_EQ(ep.record.opened, 1);
  const envelope envelope_found = p2p.receive(received(2, 1, got));
  EXPECT_EQ(got, 5);
  EXPECT_EQ(envelope_found.source, 2);
  EXPECT_EQ(envelope_found.bytes, sizeof got);
  EXPECT_EQ(ep.record.opened, 1);
}

TEST_F(p2p_calls_of_one_rank, match_by_tag_and_in_the_order_of_sending) {
  p2p.send(sent(1, x));
  p2p.send(sent(2, y));
  p2p.receive(received(rank::any, 2, got));
  EXPECT_EQ(got, 7);
  p2p.receive(received(rank::any, tags::any, got));
  EXPECT_EQ(got, 5);
}

TEST_F(p2p_calls_of_one_rank, complete_at_once_without_a_peer) {
  send_args nowhere = sent(1, x);
  nowhere.destination = rank::null;
  p2p.send(nowhere);
  EXPECT_EQ(p2p.receive(received(rank::null, 1, got)).source, rank::null);
  pending_call one = p2p.make_receive(received(rank::null, 1, got), true);
  EXPECT_TRUE(one->test());
  EXPECT_TRUE(shared->active.empty());
}

TEST_F(p2p_calls_of_one_rank, progress_with_every_wait_while_a_receive_is_under_way) {
  pending_call one = p2p.make_receive(received(2, 3, got), true);
  EXPECT_EQ(shared->active.size(), 1u);
  EXPECT_FALSE(one->test());
  p2p.send(sent(3, x));
  shared->progress_others(nullptr, true);
  EXPECT_EQ(got, 5);
  EXPECT_TRUE(one->test());
  ASSERT_NE(one->found(), nullptr);
  EXPECT_EQ(one->found()->tag, 3);
  EXPECT_TRUE(shared->active.empty());
}

TEST_F(p2p_calls_of_one_rank, probe_and_match_messages) {
  envelope found;
  EXPECT_FALSE(p2p.probe("iprobe", 2, 4, false, found));
  EXPECT_EQ(p2p.mprobe("improbe", 2, 4, false, found), nullptr);
  p2p.send(sent(4, x));
  EXPECT_TRUE(p2p.probe("iprobe", rank::any, tags::any, false, found));
  EXPECT_EQ(found.tag, 4);
  matched_message* const one = p2p.mprobe("improbe", 2, 4, false, found);
  ASSERT_NE(one, nullptr);
  EXPECT_FALSE(p2p.probe("iprobe", 2, 4, false, found));
  p2p.put_back(one);
  EXPECT_TRUE(p2p.probe("iprobe", 2, 4, false, found));
  p2p.receive(received(2, 4, got));
  EXPECT_EQ(got, 5);
}

TEST_F(p2p_calls_of_one_rank, reject_wrong_peers_and_tags_and_a_freed_communicator) {
  send_args wrong = sent(1, x);
  wrong.destination = 4;
  EXPECT_THROW(p2p.send(wrong), usage_error);
  EXPECT_THROW(p2p.send(sent(-1, x)), usage_error);
  EXPECT_THROW(p2p.receive(received(-1, 0, got)), usage_error);
  EXPECT_EQ(ep.record.abandoned, 0);

  pending_call one = p2p.make_receive(received(2, 3, got), true);
  p2p.send(sent(3, x));
  state.free();
  p2p.forget();
  EXPECT_THROW(p2p.send(sent(1, x)), usage_error);
  one->wait();  // what is under way continues
  EXPECT_EQ(got, 5);
}

TEST_F(p2p_calls_of_one_rank, end_what_is_under_way_when_they_close) {
  p2p.open("recv");
  {
    pending_call one = p2p.make_receive(received(2, 3, got), true);
    p2p.send(sent(3, x));
  }
  p2p.close();
  EXPECT_TRUE(shared->active.empty());
  p2p.close();
}

}  // namespace
}  // namespace tutti::detail

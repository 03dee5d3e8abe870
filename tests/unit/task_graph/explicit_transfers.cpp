// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/explicit_transfers.hpp"

#include <gtest/gtest.h>

#include "parts.hpp"
#include "tutti/error.hpp"

namespace tests {
namespace {

namespace tags = tutti::tags;

struct with_table : parts {
  using parts::parts;
  follow_ups then{ready};
  explicit_transfers table{services, replicas, then, nullptr};

  std::shared_ptr<explicit_request> begin(data_handle& d, int peer, int tag, bool sends) {
    explicit_transfer_node& node = table.make({&d, peer, tag, nullptr}, sends);
    node.request = std::make_shared<explicit_request>();
    auto request = node.request;
    ready.release(node);
    run();
    return request;
  }
  std::unique_ptr<arrival> tagged(int from, int tag, int value) {
    data_handle named(data);
    named.id = tag;
    auto a = message(from, named, 0, value);
    a->header.kind = message_kind::explicit_transfer;
    return a;
  }
};

TEST(explicit_transfers, match_by_sender_and_tag_in_order) {
  with_table p;
  int x = 0, y = 0, z = 0;
  data_handle &a = p.make(0, &x), &b = p.make(0, &y), &c = p.make(0, &z);
  const auto first = p.begin(a, 1, 5, false), second = p.begin(b, tutti::rank::any, 5, false),
             third = p.begin(c, 2, tags::any, false);
  EXPECT_TRUE(p.table.busy());
  p.table.handle(p.tagged(2, 5, 20));
  p.table.handle(p.tagged(1, 5, 10));
  p.table.handle(p.tagged(2, 9, 29));
  p.run();
  EXPECT_EQ(x, 10);
  EXPECT_EQ(y, 20);
  EXPECT_EQ(z, 29);
  EXPECT_TRUE(first->complete && second->complete && third->complete);
  EXPECT_EQ(third->found.source, 2);
  EXPECT_EQ(third->found.tag, 9);
  EXPECT_FALSE(p.table.busy());
}

TEST(explicit_transfers, keeps_messages_that_arrive_before_their_receive) {
  with_table p;
  int x = 0;
  data_handle& d = p.make(0, &x);
  p.table.handle(p.tagged(1, 3, 30));
  p.table.handle(p.tagged(1, 3, 31));
  EXPECT_TRUE(p.begin(d, 1, 3, false)->complete);
  EXPECT_EQ(x, 30);
  EXPECT_TRUE(p.begin(d, 1, 3, false)->complete);
  EXPECT_EQ(x, 31);
}

TEST(explicit_transfers, sends_with_the_tag_and_reports_failures) {
  with_table p;
  int x = 6;
  data_handle& d = p.make(0, &x);
  EXPECT_TRUE(p.begin(d, 2, 4, true)->complete);
  ASSERT_EQ(p.channel.sent.size(), 1u);
  EXPECT_EQ(p.channel.sent[0].header.id, 4);
  EXPECT_EQ(value_of(p.channel.sent[0].contents.data()), 6);
  EXPECT_EQ(p.sender.messages_sent()[2], 1u);
  d.local_version->poisoned = p.failures.add_thrown("task 1", "planted fault", nullptr);
  EXPECT_NE(p.begin(d, 2, 4, true)->error, nullptr);
  EXPECT_EQ(p.channel.sent[1].header.poisoned, 1);
}

TEST(explicit_transfers, refuses_a_message_that_is_too_long) {
  with_table p;
  int x = 1;
  data_handle& d = p.make(0, &x);
  const auto request = p.begin(d, 1, 0, false);
  auto a = p.tagged(1, 0, 2);
  a->header.bytes = 400;
  a->header.contents_tag = 3;
  p.table.handle(std::move(a));
  ASSERT_EQ(p.channel.receives.size(), 1u);
  EXPECT_NE(p.channel.receives[0].into, reinterpret_cast<std::byte*>(&x));
  p.channel.receives[0].listener->received();
  p.run();
  EXPECT_THROW(std::rethrow_exception(request->error), tutti::truncation_error);
  EXPECT_EQ(x, 1);
}

TEST(explicit_transfers, receives_into_a_new_version_where_the_data_are_not_at_home) {
  with_table p;
  data_handle& d = p.make(1);
  p.begin(d, 1, 0, false);
  auto empty = p.tagged(1, 0, 0);
  empty->header.bytes = 0;
  p.table.handle(std::move(empty));
  p.run();
  EXPECT_EQ(value_of(d.local_version->data), 0);
  EXPECT_TRUE(d.readable);
}

TEST(explicit_transfers, runs_the_follow_up_of_a_group_once) {
  with_table p;
  int x = 0, ran = 0;
  data_handle& d = p.make(0, &x);
  auto group = std::make_shared<explicit_group>(2u, follow_up{[&] { ++ran; }, false, 0});
  for (int i = 0; i < 2; ++i) {
    explicit_transfer_node& node = p.table.make({&d, 1, i, nullptr}, true);
    node.group = group;
    p.ready.release(node);
    p.run();
    EXPECT_EQ(p.then.run_callbacks(), i == 1);
  }
  EXPECT_EQ(ran, 1);
}

TEST(explicit_transfers, cancels_receives_whose_senders_have_ended) {
  with_table p;
  int x = 0;
  data_handle& d = p.make(0, &x);
  const auto from_1 = p.begin(d, 1, 0, false);
  EXPECT_TRUE(p.table.is_waiting_for(1));
  EXPECT_FALSE(p.table.is_waiting_for(2));
  p.table.give_up({false, false, true, true});
  p.run();
  EXPECT_FALSE(from_1->complete);
  p.table.give_up({false, true, false, false});
  p.run();
  EXPECT_THROW(std::rethrow_exception(from_1->error), tutti::mismatch_error);
}

TEST(explicit_transfers, refuses_long_messages_that_nobody_receives_at_the_end) {
  with_table p;
  p.table.handle(p.tagged(1, 0, 2));
  p.table.close();  // its sender does not wait
  auto a = p.tagged(1, 8, 2);
  a->header.contents_tag = 5;
  EXPECT_NE(thrown_by([&] { p.table.handle(std::move(a)); }).find("tag 8"), std::string::npos);
}

}  // namespace
}  // namespace tests

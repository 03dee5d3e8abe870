// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/transfer_table.hpp"

#include <gtest/gtest.h>

#include "parts.hpp"

namespace tests {
namespace {

struct with_table : parts {
  using parts::parts;
  transfer_table table{services, data, replicas};
};

TEST(transfer_table, sends_contents_behind_their_writer) {
  with_table p;
  int x = 0;
  data_handle& d = p.make(0, &x);
  p.write(d, 5);
  p.table.to_reader(d, 1);
  p.ready.start_rank_thread_nodes();
  EXPECT_TRUE(p.channel.sent.empty());
  p.run();
  ASSERT_EQ(p.channel.sent.size(), 1u);
  const auto& m = p.channel.sent[0];
  EXPECT_EQ(m.to, 1);
  EXPECT_EQ(m.header.id, d.id);
  EXPECT_EQ(m.header.sequence, 0u);
  EXPECT_EQ(value_of(m.contents.data()), 5);
  EXPECT_EQ(p.sender.bytes_sent()[1], sizeof(int));
  p.table.to_reader(d, 1);  // it has a replica
  p.run();
  EXPECT_EQ(p.channel.sent.size(), 1u);
  EXPECT_EQ(p.replicas.cache_hits(), 1u);
}

TEST(transfer_table, lets_ranks_join_a_send_that_has_not_begun) {
  with_table p(0, 8);
  int x = 7;
  data_handle& d = p.make(0, &x);
  for (int r = 1; r <= 5; ++r) p.table.to_reader(d, r);
  p.run();
  // Five targets: to the first of three, then the first of one, then the last.
  ASSERT_EQ(p.channel.sent.size(), 3u);
  EXPECT_EQ(p.channel.sent[0].to, 1);
  ASSERT_EQ(p.channel.sent[0].forward_to.size(), 2u);
  EXPECT_EQ(p.channel.sent[0].forward_to[1].rank, 3);
  EXPECT_EQ(p.channel.sent[1].to, 4);
  EXPECT_EQ(p.channel.sent[2].to, 5);
}

TEST(transfer_table, completes_a_send_when_long_contents_are_sent) {
  with_table p;
  int x = 1;
  data_handle& d = p.make(0, &x);
  p.channel.holds = true;
  p.table.to_rank(d, 2);
  p.run();
  EXPECT_EQ(p.ready.pending(), 1u);
  p.channel.sent[0].listener->sent();
  p.run();
  EXPECT_EQ(p.ready.pending(), 0u);
}

TEST(transfer_table, sends_the_failure_of_a_task_in_place_of_its_result) {
  with_table p;
  int x = 1;
  data_handle& d = p.make(0, &x);
  d.local_version->poisoned = p.failures.add_thrown("task 1", "planted fault", nullptr);
  p.table.to_rank(d, 2);
  p.run();
  ASSERT_EQ(p.channel.sent.size(), 1u);
  EXPECT_EQ(p.channel.sent[0].header.poisoned, 1);
}

TEST(transfer_table, receives_into_a_new_version) {
  with_table p;
  data_handle& d = p.make(1);
  p.table.to_reader(d, 0);
  ASSERT_EQ(p.table.expected().size(), 1u);
  p.run();
  EXPECT_EQ(p.ready.pending(), 1u);
  auto a = p.message(1, d, 0, 42);
  EXPECT_EQ(p.table.find_receive(*a), p.table.expected()[0]);
  p.table.handle_contents(std::move(a));
  EXPECT_TRUE(p.table.expected().empty());
  p.run();
  EXPECT_EQ(p.ready.pending(), 0u);
  EXPECT_EQ(value_of(d.local_version->data), 42);
}

TEST(transfer_table, keeps_messages_whose_receive_or_data_come_later) {
  with_table p;
  int x = 0;
  data_handle& d = p.make(1, &x);
  p.table.handle_contents(p.message(1, d, 1, 11));
  p.table.handle_contents(p.message(1, d, 0, 10));
  EXPECT_EQ(d.unexpected.size(), 2u);
  p.table.to_rank(d, 0);
  p.run();
  EXPECT_EQ(x, 10);
  p.table.to_rank(d, 0);
  p.run();
  EXPECT_EQ(x, 11);
  EXPECT_EQ(p.ready.pending(), 0u);
  auto unknown = p.message(1, d, 0, 5);
  unknown->header.id = 1;
  p.table.handle_contents(std::move(unknown));
  EXPECT_EQ(p.data.take_unmatched(p.make(1)).size(), 1u);
}

TEST(transfer_table, forwards_a_message_before_its_receive_exists) {
  with_table p;
  data_handle& d = p.make(1);
  auto a = p.message(1, d, 0, 9);
  a->forward_to = {{2, 4, 0}, {3, 6, 0}};
  p.table.handle_contents(std::move(a));
  ASSERT_EQ(p.channel.sent.size(), 2u);
  EXPECT_EQ(p.channel.sent[0].to, 2);
  EXPECT_EQ(p.channel.sent[0].header.sequence, 4u);
  EXPECT_EQ(p.channel.sent[0].header.origin, 1);
  EXPECT_EQ(p.channel.sent[1].to, 3);
  EXPECT_EQ(value_of(p.channel.sent[1].contents.data()), 9);
}

TEST(transfer_table, receives_long_contents_in_place) {
  with_table p;
  int x = 0;
  data_handle& d = p.make(1, &x);
  p.table.to_rank(d, 0);
  p.run();
  auto a = p.message(1, d, 0, 0);
  a->header.contents_tag = 17;
  receive_node* const one = p.table.find_receive(*a);
  ASSERT_TRUE(one != nullptr && one->can_receive_directly());
  p.table.deliver(*one, std::move(a));
  ASSERT_EQ(p.channel.receives.size(), 1u);
  EXPECT_EQ(p.channel.receives[0].into, reinterpret_cast<std::byte*>(&x));
  p.channel.receives[0].listener->received();
  p.run();
  EXPECT_EQ(p.ready.pending(), 0u);
}

TEST(transfer_table, poisons_what_it_cannot_receive) {
  with_table p;
  data_handle &a = p.make(1), &b = p.make(1), &c = p.make(1);
  for (data_handle* d : {&a, &b, &c}) p.table.to_rank(*d, 0);
  p.table.handle_contents(p.failed(1, a, 0));
  auto longer = p.message(1, b, 0, 0);
  longer->header.bytes = 8;
  p.table.handle_contents(std::move(longer));
  receive_node& lost = *p.table.expected()[0];
  EXPECT_EQ(&lost.data(), &c);
  p.table.remove_expected(lost);
  lost.give_up(p.failures.add_lost("a transfer", 1, "it was never inserted"));
  p.run();
  EXPECT_EQ(a.local_version->poisoned->text, "planted fault");
  EXPECT_EQ(b.local_version->poisoned->text, "the sizes differ");
  EXPECT_EQ(c.local_version->poisoned->text, "it was never inserted");
  for (data_handle* d : {&a, &b, &c}) EXPECT_NE(d->local_version->data, nullptr);
  EXPECT_NE(thrown_by([&] { p.failures.throw_error(); }).find("has 4 bytes here, but 8"), std::string::npos);
}

TEST(transfer_table, brings_the_result_of_a_task_home) {
  with_table home(0), writer(2);
  data_handle &at_home = home.make(0), &at_writer = writer.make(0);
  writer.write(at_writer, 3);
  writer.table.from_writer(at_writer, 2);
  home.table.from_writer(at_home, 2);
  writer.run();
  ASSERT_EQ(writer.channel.sent.size(), 1u);
  EXPECT_EQ(writer.channel.sent[0].to, 0);
  home.table.handle_contents(home.message(2, at_home, 0, 3));
  home.run();
  EXPECT_EQ(home.ready.pending(), 0u);
  EXPECT_EQ(value_of(at_home.local_version->data), 3);
}

}  // namespace
}  // namespace tests

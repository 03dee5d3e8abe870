// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/task_reductions.hpp"

#include <gtest/gtest.h>

#include "frontends/tasks/kernel_node.hpp"
#include "parts.hpp"

namespace tests {
namespace {

void combine_sums(const void* left, const void* right, void* result, std::size_t, void*) {
  const int sum = value_of(left) + value_of(right);
  std::memcpy(result, &sum, sizeof sum);
}
void combine_products(const void* left, const void* right, void* result, std::size_t, void*) {
  const int product = value_of(left) * value_of(right);
  std::memcpy(result, &product, sizeof product);
}
constexpr reducer sums{combine_sums, nullptr}, products{combine_products, nullptr};

struct with_reductions : parts {
  using parts::parts;
  reductions all{services, data, replicas};

  // A task of rank `on` contributes `value`.
  void contribute(data_handle& d, int on, int value, const reducer& op = sums) {
    all.begin(d, op);
    if (on != services.rank) return all.contribute(d, op, on, nullptr, nullptr);
    contents* const part = new contents;
    part->use_block(block::make(sizeof value));
    std::memcpy(part->data, &value, sizeof value);
    noting_node& n = task("task");
    all.contribute(d, op, on, &n, part);
    part->release();
    ready.release(n);
  }
  std::unique_ptr<arrival> request(const data_handle& d, std::uint32_t token, std::uint32_t count) {
    auto a = message(1, d, 0, 0);
    a->header.kind = message_kind::collect;
    a->header.origin = 1;
    a->header.token = token;
    a->header.count = count;
    return a;
  }
};

TEST(reductions, combine_contributions_of_this_rank) {
  with_reductions p;
  int x = 100;
  data_handle& d = p.make(0, &x);
  for (const int value : {1, 2, 3}) p.contribute(d, 0, value);
  p.run();
  EXPECT_EQ(x, 100);
  p.all.close(d);
  p.run();
  EXPECT_EQ(x, 106);
  EXPECT_EQ(p.ready.pending(), 0u);
  EXPECT_TRUE(p.channel.sent.empty());
}

TEST(reductions, collects_from_the_ranks_that_have_contributed) {
  with_reductions p;
  int x = 0;
  data_handle& d = p.make(0, &x);
  p.contribute(d, 0, 1);
  for (const int on : {3, 1, 3}) p.contribute(d, on, 0);
  p.all.close_all();
  p.run();
  ASSERT_EQ(p.channel.sent.size(), 2u);
  EXPECT_EQ(p.channel.sent[0].to, 3);
  EXPECT_EQ(p.channel.sent[0].header.kind, message_kind::collect);
  EXPECT_EQ(p.channel.sent[0].header.count, 2u);
  EXPECT_EQ(p.channel.sent[1].to, 1);
  EXPECT_TRUE(p.all.busy());
  const std::uint32_t token = p.channel.sent[0].header.token;
  p.all.handle_contribution(p.message(3, d, token, 30));
  p.all.handle_contribution(p.message(1, d, token, 10));
  EXPECT_FALSE(p.all.busy());
  p.run();
  EXPECT_EQ(x, 41);
}

TEST(reductions, requests_from_three_ranks_or_more_by_a_tree) {
  with_reductions p(0, 8);
  int x = 0;
  data_handle& d = p.make(0, &x);
  for (int on = 1; on <= 5; ++on) p.contribute(d, on, 0);
  p.all.close(d);
  ASSERT_EQ(p.channel.sent.size(), 3u);
  EXPECT_EQ(p.channel.sent[0].forward_to.size(), 2u);
}

TEST(reductions, sends_its_part_when_it_is_complete) {
  with_reductions p;
  data_handle& d = p.make(1);
  p.contribute(d, 0, 5);
  p.all.handle_collect(p.request(d, 8, 2));
  p.run();
  EXPECT_TRUE(p.channel.sent.empty());
  p.contribute(d, 0, 6);
  p.run();
  ASSERT_EQ(p.channel.sent.size(), 1u);
  EXPECT_EQ(p.channel.sent[0].to, 1);
  EXPECT_EQ(p.channel.sent[0].header.kind, message_kind::contribution);
  EXPECT_EQ(p.channel.sent[0].header.sequence, 8u);
  EXPECT_EQ(value_of(p.channel.sent[0].contents.data()), 11);
  EXPECT_TRUE(d.partials.empty());
}

TEST(reductions, reports_counts_that_differ) {
  with_reductions p;
  data_handle& d = p.make(1);
  p.contribute(d, 0, 5);
  p.all.close(d);
  p.all.handle_collect(p.request(d, 8, 2));
  EXPECT_NE(thrown_by([&] { p.failures.throw_error(); }).find("contributed 1 times"), std::string::npos);
  p.run();
}

TEST(reductions, closes_a_reduction_by_another_operator) {
  with_reductions p;
  int x = 1;
  data_handle& d = p.make(0, &x);
  p.contribute(d, 0, 2);
  p.contribute(d, 0, 5, products);
  p.all.close(d);
  p.run();
  EXPECT_EQ(x, 15);
}

TEST(reductions, refuses_requests_that_come_after_the_end) {
  with_reductions p;
  data_handle& d = p.make(1);
  p.all.handle_collect(p.request(d, 8, 1));
  EXPECT_TRUE(p.channel.sent.empty());
  p.all.end();
  p.all.handle_collect(p.request(d, 9, 1));
  ASSERT_EQ(p.channel.sent.size(), 2u);
  EXPECT_EQ(p.channel.sent[0].header.kind, message_kind::never_sent);
  EXPECT_EQ(p.channel.sent[0].header.token, 8u);
  EXPECT_TRUE(d.collect_requests.empty());
}

TEST(reductions, poisons_the_data_when_a_contribution_does_not_come) {
  with_reductions p;
  int x = 0;
  data_handle& d = p.make(0, &x);
  p.contribute(d, 2, 0);
  p.all.close(d);
  EXPECT_FALSE(p.all.give_up(99, 2));
  EXPECT_TRUE(p.all.give_up(p.channel.sent[0].header.token, 2));
  p.run();
  ASSERT_NE(d.local_version->poisoned, nullptr);
  EXPECT_EQ(d.local_version->poisoned->rank, 2);
}

TEST(reductions, stores_a_request_for_data_that_do_not_exist_yet) {
  with_reductions p;
  data_handle& d = p.make(1);
  auto a = p.request(d, 8, 1);
  a->header.id = 1;
  p.all.handle_collect(std::move(a));
  EXPECT_EQ(p.data.take_unmatched(p.make(1)).size(), 1u);
}

}  // namespace
}  // namespace tests

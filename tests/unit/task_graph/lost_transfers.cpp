// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/lost_transfers.hpp"

#include <gtest/gtest.h>

#include "frontends/tasks/barrier_rounds.hpp"
#include "parts.hpp"
#include "tutti/error.hpp"

namespace tests {
namespace {

struct with_all : parts {
  using parts::parts;
  transfer_table transfers{services, data, replicas};
  reductions contributions{services, data, replicas};
  follow_ups then{ready};
  explicit_transfers requested{services, replicas, then, nullptr};
  lost_transfers lost{services, data, transfers, requested, contributions};

  arrival inquiry(int from, std::int64_t id, std::uint32_t sequence, std::uint32_t token = 0) {
    arrival a;
    a.from = from;
    a.header.kind = message_kind::inquiry;
    a.header.id = id;
    a.header.sequence = sequence;
    a.header.token = token;
    return a;
  }
};

TEST(lost_transfers, queries_once_for_each_transfer) {
  with_all p;
  data_handle& d = p.make(1);
  p.transfers.to_rank(d, 0);
  explicit_transfer_node& any = p.requested.make({&d, tutti::rank::any, 0, nullptr}, false);
  p.ready.release(any);
  p.transfers.handle_contents(p.message(1, d, 0, 1));
  p.transfers.to_rank(d, 0);
  p.run();
  for (int i = 0; i < 2; ++i) p.lost.inquire();
  ASSERT_EQ(p.channel.sent.size(), 4u);  // for the contents, and to each other rank
  EXPECT_EQ(p.channel.sent[0].to, 1);
  EXPECT_EQ(p.channel.sent[0].header.sequence, 1u);
  for (int r = 1; r < 4; ++r) EXPECT_EQ(p.channel.sent[r].to, r);
  p.transfers.handle_contents(p.message(1, d, 1, 1));
  p.run();
}

TEST(lost_transfers, replies_when_it_inserts_no_more) {
  with_all p;
  int x = 0;
  data_handle& d = p.make(0, &x);
  p.transfers.to_rank(d, 1);
  p.run();
  p.channel.sent.clear();
  p.lost.handle_inquiry(p.inquiry(1, d.id, 0));
  p.lost.handle_inquiry(p.inquiry(1, d.id, 1));
  p.lost.handle_inquiry(p.inquiry(2, 0, 0, 1));
  EXPECT_TRUE(p.channel.sent.empty());
  p.lost.end_insertion();
  ASSERT_EQ(p.channel.sent.size(), 1u);  // the first was sent
  EXPECT_EQ(p.channel.sent[0].header.kind, message_kind::never_sent);
  EXPECT_EQ(p.channel.sent[0].header.sequence, 1u);
  p.lost.end_sends();
  ASSERT_EQ(p.channel.sent.size(), 2u);
  EXPECT_EQ(p.channel.sent[1].to, 2);
  EXPECT_EQ(p.channel.sent[1].header.origin, 1);
  p.lost.handle_inquiry(p.inquiry(3, 0, 0, 1));
  EXPECT_EQ(p.channel.sent.size(), 3u);
}

TEST(lost_transfers, cancels_contents_that_never_arrive) {
  with_all p;
  data_handle& d = p.make(1);
  p.transfers.to_rank(d, 0);
  p.run();
  p.lost.handle_never_sent(p.inquiry(1, d.id, 0));
  p.run();
  EXPECT_EQ(p.ready.pending(), 0u);
  EXPECT_NE(d.local_version->poisoned, nullptr);
  EXPECT_NE(thrown_by([&] { p.failures.throw_error(); }).find("waits for data handle 0 from rank 1"),
            std::string::npos);
}

TEST(lost_transfers, cancels_contributions_that_never_arrive) {
  with_all p;
  int x = 0;
  data_handle& d = p.make(0, &x);
  const reducer by{[](const void*, const void*, void*, std::size_t, void*) {}, nullptr};
  p.contributions.begin(d, by);
  p.contributions.contribute(d, by, 3, nullptr, nullptr);
  p.contributions.close(d);
  p.lost.handle_never_sent(p.inquiry(3, d.id, 0, p.channel.sent[0].header.token));
  p.run();
  EXPECT_NE(thrown_by([&] { p.failures.throw_error(); }).find("its contribution to data handle 0"),
            std::string::npos);
  EXPECT_NE(d.local_version->poisoned, nullptr);
}

TEST(barrier_rounds, counts_each_round) {
  barrier_rounds b;
  EXPECT_EQ(b.enter(), 1u);
  EXPECT_FALSE(b.arrived(0, 1));
  b.add_arrival(1);
  EXPECT_FALSE(b.arrived(0, 1));
  EXPECT_TRUE(b.arrived(1, 1));
  EXPECT_FALSE(b.arrived(1, 2));
  b.add_arrival(1);
  EXPECT_TRUE(b.arrived(1, 2));
  EXPECT_EQ(b.enter(), 2u);
}

}  // namespace
}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/data_registry.hpp"

#include <gtest/gtest.h>

#include "parts.hpp"

namespace tests {
namespace {

TEST(data_registry, names_data_in_the_order_of_creation) {
  parts p;
  data_handle &a = p.make(0), &b = p.make(1);
  EXPECT_EQ(a.id, 0);
  EXPECT_EQ(b.id, 1);
  EXPECT_EQ(p.data.find(0), &a);
  EXPECT_EQ(p.data.find(1), &b);
  EXPECT_EQ(p.data.find(2), nullptr);
  EXPECT_EQ(name_of(b), "data handle 1");
  EXPECT_TRUE(p.data.has(a));
  EXPECT_FALSE(data_registry().has(a));
}

TEST(data_registry, records_owner_and_memory) {
  parts p;
  int x = 5;
  const data_handle &theirs = p.make(2), &mine = p.make(0, &x);
  EXPECT_EQ(theirs.owner, 2);
  EXPECT_EQ(theirs.home, 2);
  EXPECT_EQ(theirs.local_version, nullptr);
  EXPECT_FALSE(theirs.in_place || theirs.readable);
  EXPECT_TRUE(mine.in_place && mine.readable);
  EXPECT_EQ(mine.local_version->data, reinterpret_cast<std::byte*>(&x));
}

TEST(data_registry, refuses_a_tag_that_is_in_use) {
  parts p;
  data_handle& a = p.make(0, nullptr, 7);
  EXPECT_EQ(a.id, -8);
  EXPECT_EQ(name_of(a), "the data handle with tag 7");
  EXPECT_EQ(p.data.find(-8), &a);
  EXPECT_EQ(p.data.add({nullptr, 4, 1, 4, 0, 7}, 4), nullptr);
  data_handle& b = p.make(0);
  EXPECT_FALSE(p.data.set_tag(b, 7));
  EXPECT_TRUE(p.data.set_tag(a, 7));
  EXPECT_TRUE(p.data.set_tag(b, 8));
  EXPECT_EQ(p.data.find(-9), &b);
}

TEST(data_registry, reuses_the_last_index_of_renamed_data) {
  parts p;
  p.make(0);
  data_handle& b = p.make(0);
  EXPECT_TRUE(p.data.set_tag(b, 3));
  EXPECT_EQ(p.data.find(1), nullptr);
  EXPECT_EQ(p.make(0).id, 1);
}

TEST(data_registry, keeps_messages_until_their_data_exist) {
  parts p;
  data_handle& a = p.make(0, nullptr, 4);
  for (int i = 0; i < 3; ++i) p.data.store_unmatched(p.message(1, a, i, i));
  data_handle& b = p.make(0);
  EXPECT_TRUE(p.data.take_unmatched(b).empty());
  const auto unmatched = p.data.take_unmatched(a);
  ASSERT_EQ(unmatched.size(), 3u);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(unmatched[i]->header.sequence, static_cast<unsigned>(i));
  EXPECT_TRUE(p.data.take_unmatched(a).empty());
}

TEST(data_registry, passes_counts_and_messages_on_to_the_next_data_of_a_tag) {
  parts p;
  data_handle& a = p.make(0, nullptr, 4);
  a.peer(2).sent = 9;
  a.unexpected.push_back(p.message(1, a, 5, 1));
  p.data.remove(a);
  EXPECT_EQ(p.data.find(-5), nullptr);
  data_handle& b = p.make(0, nullptr, 4);
  EXPECT_EQ(b.peer(2).sent, 9u);
  EXPECT_EQ(b.peer(2).remote_replica.data, &b);
  EXPECT_EQ(p.data.take_unmatched(b).size(), 1u);
}

TEST(data_registry, does_not_reuse_the_index_of_removed_data) {
  parts p;
  data_handle& a = p.make(0);
  p.make(0);
  p.data.remove(a);
  EXPECT_EQ(p.data.find(0), nullptr);
  EXPECT_EQ(p.make(0).id, 2);
  int left = 0;
  for (const auto& d : p.data) left += d != nullptr;
  EXPECT_EQ(left, 2);
}

}  // namespace
}  // namespace tests

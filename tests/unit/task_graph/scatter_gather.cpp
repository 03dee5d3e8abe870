// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/scatter_gather.hpp"

#include <set>

#include <gtest/gtest.h>

#include "parts.hpp"

namespace tests {
namespace {

TEST(binomial_tree, reaches_each_rank_once) {
  for (int size = 1; size <= 17; ++size)
    for (int root = 0; root < size; ++root) {
      std::set<int> children;
      for (int r = 0; r < size; ++r) {
        const binomial_tree tree(r, size, root);
        EXPECT_EQ(tree.at_root(), r == root);
        tree.for_children([&](int child, int first, int last) {
          EXPECT_EQ(binomial_tree(child, size, root).parent(), r);
          EXPECT_EQ(tree.relative_of(child), first);
          EXPECT_LE(last, size);
          EXPECT_TRUE(children.insert(child).second);
        });
      }
      EXPECT_EQ(children.size(), static_cast<std::size_t>(size - 1));
    }
}

struct with_packs : parts {
  using parts::parts;
  pack_table packs{services};
};

// The packs that one rank has sent, as they arrive at another.
std::unique_ptr<arrival> delivered(const recording_channel::message& m, int from) {
  auto a = std::make_unique<arrival>();
  a->from = from;
  a->header = m.header;
  a->memory = block::make(m.contents.size());
  std::memcpy(a->memory->data(), m.contents.data(), m.contents.size());
  return a;
}

TEST(pack_table, packs_short_data_of_many_ranks) {
  EXPECT_FALSE(with_packs(0, 3).packs.is_packed(8));
  EXPECT_TRUE(with_packs(0, 4).packs.is_packed(1024));
  EXPECT_FALSE(with_packs(0, 4).packs.is_packed(1025));
  EXPECT_EQ(with_packs(0, 3).packs.make(0, false), nullptr);
}

TEST(pack_table, scatters_along_the_tree) {
  with_packs root(0), middle(2), leaf(3);
  scatter_gather_node* const sends = root.packs.make(0, false);
  std::vector<int> values{10, 11, 12, 13};
  for (int r = 1; r < 4; ++r) sends->add(r, r, sizeof(int), *root.make(0, &values[r]).local_version);
  root.packs.begin(sends);
  root.run();
  ASSERT_EQ(root.channel.sent.size(), 2u);  // to 2, for 2 and 3, and to 1
  EXPECT_EQ(root.channel.sent[0].to, 2);
  EXPECT_EQ(root.sender.bytes_sent()[2], 2 * sizeof(int));

  // The middle forwards before it has inserted its own call.
  middle.packs.handle(delivered(root.channel.sent[0], 0));
  ASSERT_EQ(middle.channel.sent.size(), 1u);
  EXPECT_EQ(middle.channel.sent[0].to, 3);
  for (with_packs* const p : {&middle, &leaf}) {
    int x = 0;
    scatter_gather_node* const receives = p->packs.make(0, false);
    receives->add(p->services.rank, p->services.rank, sizeof(int), *p->make(0, &x).local_version);
    p->packs.begin(receives);
    if (p == &leaf) {
      EXPECT_TRUE(p->packs.busy());
      p->packs.handle(delivered(middle.channel.sent[0], 2));
    }
    EXPECT_FALSE(p->packs.busy());
    p->run();
    EXPECT_EQ(x, 10 + p->services.rank);
    EXPECT_EQ(p->ready.pending(), 0u);
  }
}

TEST(pack_table, gathers_values_and_failures) {
  with_packs leaf(3), middle(2), root(0);
  int x = 33, y = 22;
  scatter_gather_node* one = leaf.packs.make(0, true);
  one->add(3, 3, sizeof x, *leaf.make(3, &x).local_version);
  leaf.packs.begin(one);
  leaf.run();
  one = middle.packs.make(0, true);
  data_handle& mutated = middle.make(2, &y);
  mutated.local_version->poisoned = middle.failures.add_thrown("task 1", "planted fault", nullptr);
  one->add(2, 2, sizeof y, *mutated.local_version);
  middle.packs.begin(one);
  middle.run();
  EXPECT_TRUE(middle.channel.sent.empty());
  middle.packs.handle(delivered(leaf.channel.sent[0], 3));
  middle.run();
  ASSERT_EQ(middle.channel.sent.size(), 1u);

  std::vector<int> values(4);
  std::vector<data_handle*> data;
  one = root.packs.make(0, true);
  for (int r = 1; r < 4; ++r) {
    data.push_back(&root.make(r, &values[r]));
    one->add(r, r, sizeof(int), *data.back()->local_version);
  }
  root.packs.begin(one);
  root.packs.handle(delivered(middle.channel.sent[0], 2));
  root.run();
  EXPECT_EQ(root.ready.pending(), 1u);
  with_packs other(1);
  int z = 11;
  scatter_gather_node* const sends = other.packs.make(0, true);
  sends->add(1, 1, sizeof z, *other.make(1, &z).local_version);
  other.packs.begin(sends);
  other.run();
  root.packs.handle(delivered(other.channel.sent[0], 1));
  root.run();
  EXPECT_EQ(values[1], 11);
  EXPECT_EQ(values[3], 33);
  ASSERT_NE(data[1]->local_version->poisoned, nullptr);
  EXPECT_EQ(data[1]->local_version->poisoned->text, "planted fault");
}

}  // namespace
}  // namespace tests

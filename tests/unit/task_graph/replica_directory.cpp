// SPDX-License-Identifier: Apache-2.0
#include "frontends/tasks/replica_directory.hpp"

#include <array>

#include <gtest/gtest.h>

#include "parts.hpp"

namespace tests {
namespace {

using enum transfer_action;

// The same data as four ranks know them.
struct four_ranks {
  explicit four_ranks(std::size_t max_bytes = 1 << 20, bool cache = true) {
    for (int r = 0; r < 4; ++r)
      ranks[static_cast<std::size_t>(r)] = std::make_unique<parts>(r, 4, max_bytes, cache);
  }
  std::array<data_handle*, 4> make(int owner) {
    std::array<data_handle*, 4> all{};
    for (std::size_t r = 0; r < 4; ++r) all[r] = &ranks[r]->make(owner);
    return all;
  }
  // The action of each rank when one of them reads or writes.
  using actions = std::array<transfer_action, 4>;
  actions read(const std::array<data_handle*, 4>& d, int by) {
    actions all{};
    for (std::size_t r = 0; r < 4; ++r) {
      all[r] = ranks[r]->replicas.read_at(*d[r], by);
      ranks[r]->replicas.free_evicted(nullptr);
    }
    return all;
  }
  actions write(const std::array<data_handle*, 4>& d, int by) {
    actions all{};
    for (std::size_t r = 0; r < 4; ++r) all[r] = ranks[r]->replicas.written_at(*d[r], by);
    return all;
  }
  std::array<std::unique_ptr<parts>, 4> ranks;
};
using actions = four_ranks::actions;
constexpr actions nothing{none, none, none, none};

TEST(replica_directory, transfers_once_until_the_next_write) {
  four_ranks all;
  const auto d = all.make(1);
  EXPECT_EQ(all.read(d, 1), nothing);
  EXPECT_EQ(all.read(d, 3), (actions{none, send, none, receive}));
  EXPECT_EQ(all.read(d, 3), nothing);
  EXPECT_EQ(all.read(d, 0), (actions{receive, send, none, none}));
  EXPECT_EQ(all.ranks[1]->replicas.cache_hits(), 1u);
  EXPECT_EQ(all.write(d, 1), nothing);
  EXPECT_EQ(all.read(d, 3), (actions{none, send, none, receive}));
}

TEST(replica_directory, brings_a_result_home_and_keeps_it_at_the_writer) {
  four_ranks all;
  const auto d = all.make(1);
  EXPECT_EQ(all.read(d, 0), (actions{receive, send, none, none}));
  EXPECT_EQ(all.write(d, 2), (actions{none, receive, send, none}));
  EXPECT_EQ(all.read(d, 2), nothing);
  EXPECT_EQ(all.read(d, 0), (actions{receive, send, none, none}));
}

TEST(replica_directory, transfers_every_time_without_a_cache) {
  four_ranks all(1 << 20, false);
  const auto d = all.make(1);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(all.read(d, 3), (actions{none, send, none, receive}));
  parts& reader = *all.ranks[3];
  reader.replicas.make_contents(*d[3], true);
  reader.replicas.drop_uncached(*d[3]);
  EXPECT_EQ(d[3]->local_version, nullptr);
}

TEST(replica_directory, evicts_the_least_recently_used_on_both_sides) {
  four_ranks all(2 * sizeof(int));
  const std::array a{all.make(1), all.make(1), all.make(1)};
  const actions moved{none, send, none, receive};
  EXPECT_EQ(all.read(a[0], 3), moved);
  EXPECT_EQ(all.read(a[1], 3), moved);
  EXPECT_EQ(all.read(a[0], 3), nothing);
  all.ranks[3]->replicas.make_contents(*a[1][3], true);
  EXPECT_EQ(all.read(a[2], 3), moved);  // evicts a[1]
  EXPECT_EQ(a[1][3]->local_version, nullptr);
  EXPECT_EQ(all.read(a[0], 3), nothing);
  EXPECT_EQ(all.read(a[1], 3), moved);
}

TEST(replica_directory, forgets_evicted_data_that_are_removed) {
  parts p(3, 4, sizeof(int));
  data_handle &a = p.make(1), &b = p.make(1);
  p.replicas.read_at(a, 3);
  p.replicas.read_at(b, 3);  // evicts a
  p.replicas.remove(a);
  p.data.remove(a);
  p.replicas.free_evicted(nullptr);
}

TEST(replica_directory, moves_the_home_to_a_new_owner) {
  four_ranks all;
  const auto d = all.make(1);
  all.read(d, 0);
  for (std::size_t r = 0; r < 4; ++r) all.ranks[r]->replicas.set_owner(*d[r], 2);
  EXPECT_EQ(all.read(d, 2), (actions{none, send, receive, none}));
  for (std::size_t r = 0; r < 4; ++r) all.ranks[r]->replicas.move_home(*d[r], false);
  EXPECT_EQ(d[0]->home, 2);
  EXPECT_EQ(all.read(d, 1), nothing);  // the old home keeps a replica
  EXPECT_EQ(all.read(d, 0), (actions{receive, none, send, none}));
}

TEST(replica_directory, invalidates_everything_else_when_a_scatter_chooses_the_root) {
  four_ranks all;
  const auto d = all.make(1);
  all.read(d, 3);
  for (std::size_t r = 0; r < 4; ++r) all.ranks[r]->replicas.make_home(*d[r], 0);
  EXPECT_EQ(d[3]->home, 0);
  EXPECT_EQ(all.read(d, 3), (actions{send, none, none, receive}));
}

TEST(replica_directory, knows_which_ranks_data_concern) {
  parts p;
  EXPECT_TRUE(p.replicas.involves_this_rank(p.make(0)));
  data_handle& theirs = p.make(1);
  EXPECT_FALSE(p.replicas.involves_this_rank(theirs));
  p.replicas.make_contents(theirs, true);
  EXPECT_TRUE(p.replicas.involves_this_rank(theirs));
}

TEST(replica_directory, lets_writers_in_place_wait_for_readers) {
  parts p;
  int x = 1;
  data_handle& d = p.make(0, &x);
  noting_node &first = p.task("first"), &one = p.task("one"), &two = p.task("two"), &last = p.task("last");
  contents* before = nullptr;
  p.replicas.write_local(d, first, false, before);
  EXPECT_EQ(&p.replicas.read_local(d, one), d.local_version);
  p.replicas.read_local(d, two);
  EXPECT_EQ(&p.replicas.write_local(d, last, true, before), d.local_version);
  EXPECT_EQ(before, nullptr);
  EXPECT_EQ(one.pending_dependencies, 2);
  EXPECT_EQ(last.pending_dependencies, 4);
  for (node* n : {&last, &two, &one, &first}) p.ready.release(*n);
  p.run();
  const std::vector<std::string> right{"first", "first ends", "two",  "two ends",
                                       "one",   "one ends",   "last", "last ends"};
  EXPECT_EQ(std::vector<std::string>(p.notes.begin(), p.notes.begin() + 2),
            std::vector<std::string>(right.begin(), right.begin() + 2));
  EXPECT_EQ(p.notes.back(), "last ends");
}

TEST(replica_directory, gives_writers_a_new_version_elsewhere) {
  parts p;
  data_handle& d = p.make(1);  // not at home here: versions are not written in place
  p.replicas.make_contents(d, true);
  contents* const old = d.local_version;
  noting_node &reader = p.task("reader"), &writer = p.task("writer");
  p.replicas.read_local(d, reader).retain();
  contents* before = nullptr;
  contents& replacement = p.replicas.write_local(d, writer, true, before);
  EXPECT_NE(&replacement, old);
  EXPECT_EQ(before, old);
  EXPECT_EQ(writer.pending_dependencies, 1);
  EXPECT_EQ(old->users, 2u);
  before->release();
  old->release();
  p.ready.release(reader);
  p.ready.release(writer);
  p.run();
}

}  // namespace
}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
//
// Tests how the processes of a node number their groups, and divide memory among them.
#include "transport/shm/group_memory.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engines/mpi/memory_pieces.hpp"
#include "transport/shm/node_collectives.hpp"
#include "transport/shm/process_memory.hpp"
#include "transport/shm/process_messages.hpp"

namespace tutti::shm {
namespace {

using detail::group_name;

constexpr group_memory::sizes of_four{4, 640, 8832};

// Memory that forked processes share.
class shared_memory {
 public:
  explicit shared_memory(const group_memory::sizes& s)
      : bytes_(s.bytes()),
        at_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {}
  ~shared_memory() { munmap(at_, bytes_); }
  std::byte* get() const { return static_cast<std::byte*>(at_); }

 private:
  std::size_t bytes_;
  void* at_;
};

// A rank in a group, and the memory of the group.
struct entered {
  group_memory::membership in;
  std::byte* memory = nullptr;
  bool large = false;
};

// The members are the first ranks of the node.
entered enter_with_blocks(group_memory& all, const group_name& name, int rank, int members) {
  std::vector<int> ranks(static_cast<std::size_t>(members));
  std::iota(ranks.begin(), ranks.end(), 0);
  const auto in = all.enter(name, rank);
  const auto at = all.blocks(in, ranks);
  return {in, at.memory, at.large};
}

struct groups {
  explicit groups(const group_memory::sizes& s = of_four, std::uint32_t last_number = 0)
      : memory(s), all(memory.get(), s) {
    all.initialize(last_number);
  }
  entered enter(const group_name& name, int rank, int members) {
    return enter_with_blocks(all, name, rank, members);
  }
  // Returns the number.
  std::uint32_t enter_and_leave(const group_name& name, int rank = 0) {
    const auto in = all.enter(name, rank);
    all.leave(in, rank);
    return in.number;
  }
  shared_memory memory;
  group_memory all;
};

TEST(group_memory, all_members_find_the_same_place_and_number) {
  groups g;
  const auto one = g.enter({1, 2}, 0, 3), other = g.enter({1, 3}, 0, 3);
  ASSERT_NE(one.memory, nullptr);
  EXPECT_NE(one.memory, other.memory);
  EXPECT_NE(one.in.number, 0u);
  EXPECT_NE(one.in.number, other.in.number);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.memory) % 128, 0u);
  for (int i = 1; i < 3; ++i) {
    const auto again = g.enter({1, 2}, i, 3);
    EXPECT_EQ(again.memory, one.memory);
    EXPECT_EQ(again.in.number, one.in.number);
  }
}

// Its blocks are longer than a page.
constexpr group_memory::sizes in_pages{4, 8192, 16384};

/// Memory of `mapped` bytes, of which a file behind it has the first `bytes`.
struct memory_in_a_file {
  explicit memory_in_a_file(std::size_t bytes, std::size_t mapped) : mapped_(mapped) {
    const int file = memfd_create("groups", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) std::abort();
    at = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at == MAP_FAILED) std::abort();
    fd = file;
  }
  ~memory_in_a_file() { munmap(at, mapped_), close(fd); }
  memory_in_a_file(const memory_in_a_file&) = delete;
  std::byte* get() const { return static_cast<std::byte*>(at); }
  blkcnt_t pages() const {
    struct stat is {};
    return fstat(fd, &is) == 0 ? is.st_blocks * 512 / sysconf(_SC_PAGESIZE) : -1;
  }
  void* at = nullptr;
  int fd = -1;

 private:
  std::size_t mapped_;
};

/// Blocks without pages, of which the first group gets those of two members.
struct groups_without_pages {
  explicit groups_without_pages(const group_memory::sizes& s)
      : memory(s.bytes(), s.bytes()), all(memory.get(), s) {
    all.initialize(0, false);
    before = memory.pages();
    one = enter_with_blocks(all, {1, 2}, 0, 2);
    with_one = memory.pages();
  }
  memory_in_a_file memory;
  group_memory all;
  blkcnt_t before = 0, with_one = 0;
  entered one;
};

TEST(group_memory, blocks_get_their_pages_with_their_first_group) {
  groups_without_pages g(in_pages);
  if (!process_memory::can_allocate()) {
    EXPECT_EQ(g.one.memory, nullptr);
    return;
  }
  ASSERT_NE(g.one.memory, nullptr);
  EXPECT_GE(g.with_one, g.before + static_cast<blkcnt_t>(2 * in_pages.large_block) / sysconf(_SC_PAGESIZE));
  std::memset(g.one.memory, 1, 2 * in_pages.large_block);
  EXPECT_EQ(g.memory.pages(), g.with_one);
  g.all.leave(g.one.in, 0);
  g.all.leave(enter_with_blocks(g.all, {1, 2}, 1, 2).in, 1);
  EXPECT_EQ(enter_with_blocks(g.all, {3, 4}, 0, 2).memory, g.one.memory);
  EXPECT_EQ(g.memory.pages(), g.with_one);
}

TEST(group_memory, gives_pages_to_the_heads_of_blocks_only_if_their_users_add_the_others) {
  group_memory::sizes sizes = in_pages;
  sizes.large_block = std::size_t{1} << 20;
  sizes.head = 4096;
  sizes.only_heads_get_pages = true;
  const groups_without_pages g(sizes);
  if (!process_memory::can_allocate()) {
    EXPECT_EQ(g.one.memory, nullptr);
    return;
  }
  ASSERT_NE(g.one.memory, nullptr);
  EXPECT_LT(g.with_one, g.before + static_cast<blkcnt_t>(sizes.large_block) / sysconf(_SC_PAGESIZE));
  std::memset(g.one.memory, 1, sizes.head);
  std::memset(g.one.memory + sizes.large_block, 1, sizes.head);
  EXPECT_EQ(g.memory.pages(), g.with_one);
}

TEST(group_memory, has_no_blocks_if_there_are_no_pages) {
  if (!process_memory::can_allocate()) GTEST_SKIP() << "the kernel has no MADV_POPULATE_WRITE";
  const memory_in_a_file memory(in_pages.bytes_before_blocks(), in_pages.bytes());
  group_memory all(memory.get(), in_pages);
  all.initialize(0, false);
  const std::vector<int> members{0, 1};
  for (int i = 0; i < 2; ++i) {
    const auto in = all.enter({1, 2}, i);
    EXPECT_NE(in.number, 0u);
    const auto at = all.blocks(in, members);
    EXPECT_EQ(at.memory, nullptr);
    EXPECT_EQ(at.lacks_pages, i == 0);  // one member reports it
  }
}

TEST(group_memory, is_free_and_zero_when_all_have_left) {
  groups g;
  const auto one = g.enter({1, 2}, 0, 2);
  std::memset(one.memory, 1, 2 * 8832);
  g.all.leave(one.in, 0);
  EXPECT_NE(g.enter({5, 5}, 0, 2).memory, one.memory);
  // The second member, after the first has left.
  const auto second = g.enter({1, 2}, 1, 2);
  EXPECT_EQ(second.memory, one.memory);
  EXPECT_EQ(second.in.number, one.in.number);
  g.all.leave(second.in, 1);
  const auto again = g.enter({7, 7}, 0, 2);
  EXPECT_EQ(again.memory, one.memory);
  EXPECT_NE(again.in.number, one.in.number);
  for (std::size_t i = 0; i < 2 * 8832; ++i) ASSERT_EQ(again.memory[i], std::byte{0}) << i;
}

TEST(group_memory, large_blocks_first_and_none_at_the_end) {
  groups g;
  std::set<std::byte*> seen;
  std::vector<group_memory::membership> first;
  std::size_t large = 0, small = 0;
  std::uint64_t n = 0;
  for (;; ++n) {
    const auto one = g.enter({n, n}, 0, 4);
    if (n == 0) first.push_back(one.in);
    if (one.memory == nullptr) break;
    EXPECT_TRUE(seen.insert(one.memory).second);
    ++(one.large ? large : small);
  }
  EXPECT_EQ(large, of_four.large_groups);
  EXPECT_EQ(small, of_four.small_groups);
  // All members of that group have none, although memory became free meanwhile. They have a number.
  for (int i = 1; i < 4; ++i) first.push_back(g.enter({0, 0}, i, 4).in);
  for (int i = 0; i < 4; ++i) g.all.leave(first[static_cast<std::size_t>(i)], i);
  const auto without = g.enter({n, n}, 1, 4);
  EXPECT_EQ(without.memory, nullptr);
  EXPECT_NE(without.in.number, 0u);
  EXPECT_NE(g.enter({n + 1, n}, 0, 4).memory, nullptr);
}

TEST(group_memory, a_full_table_admits_no_more_groups) {
  groups g;
  std::vector<group_memory::membership> of_third;
  std::uint64_t n = 0;
  for (; n < 4096; ++n) {
    const auto in = g.enter({n, 0}, 0, 2).in;
    EXPECT_NE(in.number, 0u);
    if (n == 3) of_third.push_back(in);
  }
  const auto refused = g.enter({n, 0}, 0, 2);
  EXPECT_EQ(refused.memory, nullptr);
  EXPECT_EQ(refused.in.number, 0u);
  EXPECT_TRUE(refused.in.closes);
  g.all.leave(refused.in, 0);
  of_third.push_back(g.enter({3, 0}, 1, 2).in);
  for (int i = 0; i < 2; ++i) g.all.leave(of_third[static_cast<std::size_t>(i)], i);
  // Its second member, when an entry is free again.
  EXPECT_EQ(g.enter({n, 0}, 1, 2).memory, nullptr);
  const auto second = g.all.enter({n, 0}, 1);
  EXPECT_EQ(second.number, 0u);
  EXPECT_FALSE(second.closes);
  EXPECT_NE(g.enter({4, 0}, 1, 2).memory, nullptr);
}

TEST(group_memory, numbers_wrap_and_are_never_0) {
  groups g(of_four, group_memory::max_number - 2);
  EXPECT_EQ(g.enter_and_leave({1, 0}), group_memory::max_number - 1);
  EXPECT_EQ(g.enter_and_leave({2, 0}), group_memory::max_number);
  EXPECT_EQ(g.enter_and_leave({3, 0}), 1u);
  EXPECT_EQ(g.enter_and_leave({4, 0}), 2u);
}

TEST(group_memory, no_two_open_groups_have_one_number) {
  groups g(of_four, group_memory::max_number - 1);
  const auto open = g.all.enter({1, 0}, 0);
  EXPECT_EQ(open.number, group_memory::max_number);
  const auto first = g.all.enter({2, 0}, 0);
  EXPECT_EQ(first.number, 1u);
  groups wrapped(of_four, group_memory::max_number - 1);
  static_cast<void>(wrapped.all.enter({1, 0}, 0));  // the largest number
  static_cast<void>(wrapped.all.enter({2, 0}, 0));  // 1
  wrapped.all.initialize(group_memory::max_number - 1);
  EXPECT_EQ(wrapped.all.enter({3, 0}, 0).number, 2u);
}

// Groups that only send messages use no memory. If a member requests it later, all members get it.
TEST(group_memory, entries_need_no_blocks) {
  groups g;
  const auto one = g.all.enter({1, 1}, 2), other = g.all.enter({2, 2}, 3);
  EXPECT_NE(one.number, other.number);
  const auto first = g.enter({3, 3}, 0, 4);
  const auto second = g.enter({1, 1}, 1, 4);
  EXPECT_EQ(second.in.number, one.number);
  EXPECT_EQ(second.memory, first.memory + 4 * 8832);
  const int members[] = {0, 1, 2, 3};
  EXPECT_EQ(g.all.blocks(one, members).memory, second.memory);
}

// The third member of a group never enters. The entry does not wait for it.
TEST(group_memory, an_entry_does_not_wait_for_members_without_messages) {
  groups g;
  std::uint32_t last = 0;
  for (std::uint64_t n = 0; n < 10'000; ++n) {
    const auto one = g.all.enter({n, 0}, 0), other = g.all.enter({n, 0}, 1);
    ASSERT_EQ(one.number, other.number);
    ASSERT_GT(one.number, last);
    last = one.number;
    const bool sent[] = {true, true, false, false};
    g.all.leave(one, 0, sent);
    g.all.leave(other, 1, sent);
  }
}

TEST(group_memory, an_entry_waits_for_the_receivers_of_messages) {
  groups g;
  const auto sender = g.all.enter({1, 0}, 0);
  const bool sent[] = {false, false, true, false};
  g.all.leave(sender, 0, sent);
  // Another member enters and leaves meanwhile.
  EXPECT_EQ(g.enter_and_leave({1, 0}, 1), sender.number);
  EXPECT_NE(g.enter_and_leave({2, 0}, 1), sender.number);
  EXPECT_EQ(g.enter_and_leave({1, 0}, 2), sender.number);
  // Nobody waits any more.
  EXPECT_NE(g.enter_and_leave({1, 0}, 3), sender.number);
}

// The first member that asks for memory makes the entry wait for all members, but not for other
// ranks of the node.
TEST(group_memory, an_entry_with_blocks_waits_for_all_members) {
  groups g;
  const auto first = g.enter({1, 0}, 0, 3);
  g.all.leave(first.in, 0);
  for (int i = 1; i < 3; ++i) {
    const auto next = g.enter({1, 0}, i, 3);
    EXPECT_EQ(next.memory, first.memory);
    EXPECT_EQ(next.in.number, first.in.number);
    g.all.leave(next.in, i);
  }
  EXPECT_EQ(g.enter({2, 0}, 0, 3).memory, first.memory);
}

// Processes enter and leave the same groups at different times. Each marks its block.
TEST(group_memory, processes_share_the_table) {
  groups g;
  constexpr int processes = 4;
  constexpr std::uint64_t rounds = 3000;
  std::vector<pid_t> children;
  for (int me = 0; me < processes; ++me) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    std::mt19937 random(static_cast<unsigned>(me));
    std::map<std::uint64_t, entered> open;
    bool intact = true;
    const auto leave = [&](std::uint64_t n) {
      const auto at = open.extract(n).mapped();
      std::byte* const block = at.memory + static_cast<std::size_t>(me) * (at.large ? 8832 : 640);
      intact = intact && (at.memory == nullptr || *block == std::byte(1 + n % 100));
      g.all.leave(at.in, me);
    };
    for (std::uint64_t n = 0; n < rounds; ++n) {
      const auto at = g.enter({n, 9}, me, processes);
      std::byte* const block = at.memory + static_cast<std::size_t>(me) * (at.large ? 8832 : 640);
      if (at.memory != nullptr) {  // another process may hold the memory of many groups
        intact = intact && *block == std::byte{0};
        *block = std::byte(1 + n % 100);
      }
      open[n] = at;
      if (open.size() > 20) leave(std::next(open.begin(), static_cast<long>(random() % 20))->first);
    }
    while (!open.empty()) leave(open.begin()->first);
    _exit(intact ? 0 : 1);
  }
  for (const pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST(group_memory, survives_a_process_that_ends_with_the_mutex) {
  groups g;
  const pid_t child = fork();
  if (child == 0) {
    pthread_mutex_lock(reinterpret_cast<pthread_mutex_t*>(g.memory.get()));
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  const auto one = g.enter({1, 1}, 0, 2);
  EXPECT_NE(one.memory, nullptr);
  g.all.leave(one.in, 0);
}

TEST(group_memory, grows_slowly_with_the_ranks) {
  // With the slots of the mpi engine.
  constexpr std::size_t mib = std::size_t{1} << 20;
  using collectives = node_collectives<process_memory>;
  const auto of = [](int ranks) {
    return group_memory::sizes{ranks, collectives::bytes(0),
                               collectives::bytes(detail::slot_bytes_of_node(ranks))};
  };
  EXPECT_LT(of(2).bytes(), 9 * mib);
  EXPECT_LT(of(8).bytes(), 32 * mib);
  for (const int ranks : {16, 32, 48, 64, 128}) EXPECT_LE(of(ranks).bytes(), 36 * mib) << ranks;
  EXPECT_GE(of(128).small_blocks(), 16u * 128);
  // With the channels, the ranks of a node share at most 64 MiB.
  const auto channels = process_messages::layout::of(128);
  EXPECT_LE(of(128).bytes() + channels.shared_bytes() + 128 * channels.rank_bytes(), 64 * mib);
}

}  // namespace
}  // namespace tutti::shm

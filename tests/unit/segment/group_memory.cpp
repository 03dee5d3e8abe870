// SPDX-License-Identifier: Apache-2.0
//
// Tests how the processes of a node divide memory among their groups.
#include "transport/shm/group_memory.hpp"

#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engines/mpi/memory_pieces.hpp"
#include "transport/shm/node_collectives.hpp"
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

struct groups {
  explicit groups(const group_memory::sizes& s = of_four) : memory(s), all(memory.get(), s) {
    all.initialize();
  }
  shared_memory memory;
  group_memory all;
};

TEST(group_memory, all_members_find_the_same_place) {
  groups g;
  const auto one = g.all.enter({1, 2}, 3), other = g.all.enter({1, 3}, 3);
  ASSERT_NE(one.memory, nullptr);
  EXPECT_NE(one.memory, other.memory);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.memory) % 128, 0u);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(g.all.enter({1, 2}, 3).memory, one.memory);
}

TEST(group_memory, is_free_and_zero_when_all_have_left) {
  groups g;
  const auto one = g.all.enter({1, 2}, 2);
  std::memset(one.memory, 1, 2 * 8832);
  g.all.leave({1, 2});
  EXPECT_NE(g.all.enter({5, 5}, 2).memory, one.memory);
  // The second member, after the first has left.
  EXPECT_EQ(g.all.enter({1, 2}, 2).memory, one.memory);
  g.all.leave({1, 2});
  const auto again = g.all.enter({7, 7}, 2);
  EXPECT_EQ(again.memory, one.memory);
  for (std::size_t i = 0; i < 2 * 8832; ++i) ASSERT_EQ(again.memory[i], std::byte{0}) << i;
}

TEST(group_memory, large_blocks_first_and_none_at_the_end) {
  groups g;
  std::set<std::byte*> seen;
  std::size_t large = 0, small = 0;
  std::uint64_t n = 0;
  for (;; ++n) {
    const auto one = g.all.enter({n, n}, 4);
    if (one.memory == nullptr) break;
    EXPECT_TRUE(seen.insert(one.memory).second);
    ++(one.large ? large : small);
  }
  EXPECT_EQ(large, of_four.large_groups);
  EXPECT_EQ(small, of_four.small_groups);
  // All members of that group have none, although memory became free meanwhile.
  for (int i = 0; i < 4; ++i) g.all.leave({0, 0});
  EXPECT_EQ(g.all.enter({n, n}, 4).memory, nullptr);
  EXPECT_NE(g.all.enter({n + 1, n}, 4).memory, nullptr);
}

TEST(group_memory, a_full_table_admits_no_more_groups) {
  groups g;
  std::uint64_t n = 0;
  for (; n < 4096; ++n) g.all.enter({n, 0}, 2);
  EXPECT_EQ(g.all.enter({n, 0}, 2).memory, nullptr);
  for (int i = 0; i < 2; ++i) g.all.leave({3, 0});
  EXPECT_EQ(g.all.enter({n, 0}, 2).memory, nullptr);  // its second member
  EXPECT_NE(g.all.enter({4, 0}, 2).memory, nullptr);
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
    std::map<std::uint64_t, group_memory::place> open;
    bool intact = true;
    const auto leave = [&](std::uint64_t n) {
      const auto at = open.extract(n).mapped();
      std::byte* const block = at.memory + static_cast<std::size_t>(me) * (at.large ? 8832 : 640);
      intact = intact && (at.memory == nullptr || *block == std::byte(1 + n % 100));
      g.all.leave({n, 9});
    };
    for (std::uint64_t n = 0; n < rounds; ++n) {
      const auto at = g.all.enter({n, 9}, processes);
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
  EXPECT_NE(g.all.enter({1, 1}, 2).memory, nullptr);
  g.all.leave({1, 1});
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

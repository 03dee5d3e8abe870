// SPDX-License-Identifier: Apache-2.0
//
// Segments between real processes. This process is the leader.
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "processes.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/segment_file.hpp"

namespace {

using namespace tutti::shm;
using tests::child_process;
using tests::eventually;
using tests::in_child;

constexpr memory_kind named_kinds[] = {memory_kind::memfd, memory_kind::file};

// The parts of all tests here.
struct test_layout {
  explicit test_layout(int ranks, std::size_t bytes = 4096, const char* name = "block")
      : layout(ranks), arrived(layout.add("arrived", 4)), block(layout.add_per_rank(name, bytes)) {}
  segment_layout layout;
  segment_part arrived, block;
  // The number of ranks that have arrived somewhere.
  std::atomic<int>& arrivals(const segment& s) const {
    return *reinterpret_cast<std::atomic<int>*>(s.at(arrived));
  }
};

// Attaches and joins a rank that has received the offer. Returns the reason if it fails.
std::string take_part(segment& s, const segment_offer& offer, const test_layout& l, int rank) {
  std::string why = s.attach(offer, l.layout);
  if (why.empty()) why = s.join(rank);
  s.complete();
  return why;
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != text.npos; }

std::vector<std::string> files_in_dev_shm(int pid) {
  std::vector<std::string> found;
  for (const auto& file : std::filesystem::directory_iterator("/dev/shm"))
    if (file.path().filename().string().rfind("tutti-segment-" + std::to_string(pid) + "-", 0) == 0)
      found.push_back(file.path().filename());
  return found;
}

// The numbers of descriptors and of mappings of this process that belong to segments.
std::size_t open_descriptors() {
  std::size_t n = 0;
  std::error_code error;
  for (const auto& file : std::filesystem::directory_iterator("/proc/self/fd"))
    n += contains(std::filesystem::read_symlink(file.path(), error).string(), "tutti-segment");
  return n;
}
std::size_t mappings() {
  std::ifstream in("/proc/self/maps");
  std::size_t n = 0;
  for (std::string line; std::getline(in, line);) n += contains(line, "tutti-segment");
  return n;
}

TEST(segment, all_ranks_see_the_same_zeroed_memory) {
  for (const memory_kind kind : named_kinds) {
    SCOPED_TRACE(name_of(kind));
    const test_layout l(2);
    segment mine;
    segment_offer offer;
    ASSERT_EQ(mine.create(kind, l.layout, offer), "");
    EXPECT_EQ(mine.kind(), kind);
    EXPECT_EQ(mine.role(1), segment_role::absent);
    child_process other([&]() -> std::string {
      const std::size_t inherited = open_descriptors();
      segment s;
      if (std::string why = take_part(s, offer, l, 1); !why.empty()) return why;
      for (std::size_t i = 0; i < l.block.bytes; ++i)
        if (s.at(l.block, 1)[i] != std::byte{0}) return "no zeros";
      std::memset(s.at(l.block, 1), 7, l.block.bytes);
      l.arrivals(s) = 1;
      while (l.arrivals(s) != 2) usleep(100);
      if (s.at(l.block, 0)[17] != std::byte{9}) return "the leader's data is missing";
      return open_descriptors() == inherited ? "right" : "an open descriptor";
    });
    ASSERT_EQ(mine.join(0), "");
    ASSERT_TRUE(eventually([&] { return l.arrivals(mine) == 1; }));
    mine.complete();
    EXPECT_EQ(mine.role(0), segment_role::joined);
    EXPECT_EQ(mine.role(1), segment_role::joined);
    EXPECT_TRUE(mine.peer_is_alive(0));
    EXPECT_TRUE(mine.peer_is_alive(1));
    for (std::size_t i = 0; i < l.block.bytes; ++i) {
      ASSERT_EQ(mine.at(l.block, 0)[i], std::byte{0});
      ASSERT_EQ(mine.at(l.block, 1)[i], std::byte{7});
    }
    std::memset(mine.at(l.block, 0), 9, l.block.bytes);
    l.arrivals(mine) = 2;
    EXPECT_EQ(other.result(), "right");
    EXPECT_EQ(mine.role(1), segment_role::left);
    EXPECT_FALSE(mine.peer_is_alive(1));
    EXPECT_TRUE(files_in_dev_shm(getpid()).empty());
    EXPECT_EQ(open_descriptors(), 0u);
    EXPECT_NE(mappings(), 0u);
    mine.close();
    EXPECT_EQ(mappings(), 0u);
  }
}

TEST(segment, maps_128_processes) {
  constexpr int ranks = 128;
  for (const memory_kind kind : named_kinds) {
    SCOPED_TRACE(name_of(kind));
    const test_layout l(ranks, 64 << 10);
    segment mine;
    segment_offer offer;
    ASSERT_EQ(mine.create(kind, l.layout, offer), "");
    const auto mark = [&](const segment& s, int rank, std::size_t i) -> int& {
      return reinterpret_cast<int*>(s.at(l.block, rank))[i];
    };
    const std::size_t last = l.block.bytes / sizeof(int) - 1;
    const auto meet = [&](const segment& s, int arrivals) {
      ++l.arrivals(s);
      return eventually([&] { return l.arrivals(s) >= arrivals; });
    };
    const auto exchange = [&](segment& s, int rank) -> std::string {
      mark(s, rank, 0) = mark(s, rank, last) = 1000 + rank;
      if (!meet(s, ranks)) return "a rank is missing";
      for (int r = 0; r < ranks; ++r)
        if (mark(s, r, 0) != 1000 + r || s.role(r) != segment_role::joined)
          return "rank " + std::to_string(rank) + " does not see rank " + std::to_string(r);
      const int next = (rank + 1) % ranks;
      if (mark(s, next, last) != 1000 + next) return "the end of the block is wrong";
      if (!s.peer_is_alive(next)) return "the next rank is dead";
      return meet(s, 2 * ranks) ? "" : "a rank is missing";
    };
    std::vector<std::unique_ptr<child_process>> others;
    for (int r = 1; r < ranks; ++r)
      others.push_back(std::make_unique<child_process>([&, r] {
        segment s;
        const std::string why = take_part(s, offer, l, r);
        return why.empty() ? exchange(s, r) : why;
      }));
    ASSERT_EQ(mine.join(0), "");
    EXPECT_EQ(exchange(mine, 0), "");
    for (auto& one : others) EXPECT_EQ(one->result(), "");
    mine.complete();
    EXPECT_TRUE(files_in_dev_shm(getpid()).empty());
  }
}

TEST(segment, a_window_of_the_caller_may_begin_anywhere_in_its_page) {
  const test_layout l(2);
  const std::size_t bytes = segment::window_bytes(l.layout) + 64;
  void* const memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  for (const std::size_t begin : {0, 64}) {
    std::memset(memory, 0xee, bytes);
    std::byte* const window = static_cast<std::byte*>(memory) + begin;
    segment mine;
    segment_offer offer;
    ASSERT_EQ(mine.create_in(window, l.layout, offer), "");
    EXPECT_EQ(mine.kind(), memory_kind::window);
    EXPECT_EQ(l.arrivals(mine), 0);
    EXPECT_EQ(in_child([&]() -> std::string {
                segment s;
                std::string why = s.attach_in(window + 8, offer, l.layout);
                if (!contains(why, "another offset")) return "accepted: " + why;
                why = s.attach_in(window, offer, test_layout(2, 4096, "other").layout);
                if (!contains(why, "another layout")) return "accepted: " + why;
                why = s.attach_in(window, offer, l.layout);
                if (why.empty()) why = s.join(1);
                if (!why.empty()) return why;
                if (s.at(l.block, 1)[0] != std::byte{0}) return "no zeros";
                s.at(l.block, 1)[0] = std::byte{5};
                return "right";
              }),
              "right");
    ASSERT_EQ(mine.join(0), "");
    EXPECT_EQ(mine.at(l.block, 0)[4095], std::byte{0});
    EXPECT_EQ(mine.at(l.block, 1)[0], std::byte{5});
    EXPECT_EQ(mine.role(1), segment_role::left);
    EXPECT_EQ(static_cast<std::byte*>(memory)[bytes - 1], std::byte{0xee});
  }
  munmap(memory, bytes);
}

TEST(segment, the_first_report_of_a_lost_rank_is_kept) {
  const test_layout l(3);
  segment mine;
  segment_offer offer;
  ASSERT_EQ(mine.create(memory_kind::memfd, l.layout, offer), "");
  EXPECT_EQ(mine.lost_rank(), -1);
  EXPECT_EQ(in_child([&] {
              segment s;
              std::string why = take_part(s, offer, l, 1);
              s.abort(0);
              return why;
            }),
            "");
  EXPECT_EQ(mine.lost_rank(), 0);
  mine.abort(2);
  EXPECT_EQ(mine.lost_rank(), 0);
}

// A child of rank 1 outlives it, changes nothing, and does not count as rank 1.
TEST(segment, a_forked_child_is_no_rank) {
  const test_layout l(2);
  segment mine;
  segment_offer offer;
  ASSERT_EQ(mine.create(memory_kind::memfd, l.layout, offer), "");
  ASSERT_EQ(mine.join(0), "");
  child_process rank_1([&]() -> std::string {
    segment s;
    if (std::string why = take_part(s, offer, l, 1); !why.empty()) return why;
    if (fork() == 0) {
      s.abort(0);
      const bool is_rank = s.is_rank();
      std::atomic<int>& arrivals = l.arrivals(mine);  // by the mapping of the leader
      s.close();
      arrivals = is_rank ? -1 : 1;
      while (arrivals != 2) usleep(100);
      arrivals = 3;
      _exit(0);
    }
    for (;;) pause();
  });
  ASSERT_TRUE(eventually([&] { return l.arrivals(mine) != 0; }));
  EXPECT_EQ(l.arrivals(mine), 1) << "the child is a rank";
  EXPECT_EQ(mine.lost_rank(), -1);
  EXPECT_EQ(mine.role(1), segment_role::joined);
  EXPECT_TRUE(mine.peer_is_alive(1));
  kill(rank_1.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !mine.peer_is_alive(1); }));
  EXPECT_EQ(mine.role(1), segment_role::joined) << "it has not left in order";
  l.arrivals(mine) = 2;
  EXPECT_TRUE(eventually([&] { return l.arrivals(mine) == 3; }));
  EXPECT_TRUE(mine.is_rank());
}

TEST(segment, a_forked_child_does_not_remove_the_file) {
  const test_layout l(2);
  segment mine;
  segment_offer offer;
  ASSERT_EQ(mine.create(memory_kind::file, l.layout, offer), "");
  EXPECT_EQ(in_child([&] {
              mine.close();
              return std::string();
            }),
            "");
  EXPECT_EQ(files_in_dev_shm(getpid()).size(), 1u);
  EXPECT_EQ(in_child([&] {
              segment s;
              return take_part(s, offer, l, 1);
            }),
            "");
}

TEST(segment, can_be_opened_again) {
  for (const int ranks : {2, 3}) {
    const test_layout l(ranks);
    segment mine;
    for (int i = 0; i < 3; ++i) {
      segment_offer offer;
      ASSERT_EQ(mine.create(named_kinds[i % 2], l.layout, offer), "");
      ASSERT_EQ(mine.join(0), "");
      mine.complete();
      EXPECT_EQ(mine.ranks(), ranks);
      EXPECT_EQ(mine.bytes(), l.layout.bytes());
      EXPECT_EQ(mappings(), 1u);
    }
  }
  EXPECT_EQ(mappings(), 0u);
}

}  // namespace

// SPDX-License-Identifier: Apache-2.0
//
// A process is killed at any instruction of an entry into, or of a departure from, the table of
// groups. The others can go on: they do not hang, and get memory that is 0 and that no living group
// has.
#include <algorithm>
#include <csignal>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/shm/group_memory.hpp"
#include "unit/segment/processes.hpp"

namespace tutti::shm {
namespace {

constexpr group_memory::sizes of_two{2, 640, 1280};
constexpr int members = 2;
constexpr int all_members[members] = {0, 1};

// The table, with a group that lives all the time.
class table {
 public:
  table()
      : memory_(mmap(nullptr, of_two.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        all(static_cast<std::byte*>(memory_), of_two) {
    all.initialize();
    living = all.blocks(all.enter({1, 1}, 0), all_members);
    std::memset(living.memory, 0xab, bytes_of(living));
  }
  ~table() { munmap(memory_, of_two.bytes()); }
  table(const table&) = delete;
  table& operator=(const table&) = delete;

  static std::size_t bytes_of(const group_memory::place& at) {
    return members * (at.large ? of_two.large_block : of_two.small_block);
  }

 private:
  void* memory_;

 public:
  group_memory all;
  group_memory::place living;
};

// Runs `body` in a process for so many instructions, and kills it. Returns the number that it has
// executed: less if it has ended before, -1 if no process may be traced.
template <class Body>
long run_instructions(long limit, const Body& body) {
  const int pid = fork();
  if (pid == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(9);
    raise(SIGSTOP);
    body();
    _exit(0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFSTOPPED(status)) {
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 9) << "the process ended with status " << status;
    return -1;
  }
  long done = 0;
  for (; done < limit && WIFSTOPPED(status); ++done) {
    ptrace(PTRACE_SINGLESTEP, pid, nullptr, nullptr);
    waitpid(pid, &status, 0);
  }
  if (!WIFSTOPPED(status)) return done - 1;
  kill(pid, SIGKILL);
  waitpid(pid, &status, 0);
  return done;
}

// What the others do afterwards. Returns what is wrong.
std::string go_on(table& t) {
  alarm(10);  // ends a wait for the mutex
  std::vector<std::pair<std::byte*, std::size_t>> taken{{t.living.memory, table::bytes_of(t.living)}};
  for (std::uint64_t n = 10; n < 40; ++n) {
    const auto in = t.all.enter({n, 1}, 0);
    const auto at = t.all.blocks(in, all_members);
    const std::size_t bytes = table::bytes_of(at);
    if (at.memory == nullptr) return "there is no memory";
    for (const auto& [other, length] : taken)
      if (at.memory < other + length && other < at.memory + bytes) return "two groups have the same memory";
    if (std::any_of(at.memory, at.memory + bytes, [](std::byte b) { return b != std::byte{0}; }))
      return "the memory is not 0";
    taken.emplace_back(at.memory, bytes);
    if (n % 2 == 0) {
      std::memset(at.memory, 1, bytes);
      t.all.leave(t.all.enter({n, 1}, 1), 1);
      t.all.leave(in, 0);
      taken.pop_back();
    }
  }
  const bool intact = std::all_of(t.living.memory, t.living.memory + table::bytes_of(t.living),
                                  [](std::byte b) { return b == std::byte{0xab}; });
  return intact ? "" : "a living group has lost its data";
}

// `prepare` changes the table before `body`, which is killed.
template <class Prepare, class Body>
void kill_at_many_instructions(const Prepare& prepare, const Body& body) {
  const auto run = [&](long limit) {
    table t;
    prepare(t.all);
    const long done = run_instructions(limit, [&] { body(t.all); });
    const std::string wrong = done < 0 ? "" : tests::in_child([&] { return go_on(t); });
    EXPECT_EQ(wrong, "") << "instruction " << limit;
    return done;
  };
  const long all = run(1'000'000);
  if (all < 0) GTEST_SKIP() << "the kernel permits no ptrace";
  ASSERT_GT(all, 100);
  ASSERT_LT(all, 100'000);
  const long stride = std::max(1L, all / 50);
  for (long k = 1; k < all && !testing::Test::HasFailure(); k += stride) run(k);
}

TEST(group_memory_crashes, in_an_entry) {
  kill_at_many_instructions([](group_memory&) {},
                            [](group_memory& all) {
                              all.blocks(all.enter({2, 2}, 0), all_members);
                            });
}

TEST(group_memory_crashes, in_the_departure_of_the_last_member) {
  group_memory::membership last;
  kill_at_many_instructions(
      [&](group_memory& all) {
        const auto first = all.enter({2, 2}, 0);
        std::memset(all.blocks(first, all_members).memory, 7, members * of_two.large_block);
        last = all.enter({2, 2}, 1);
        all.leave(first, 0);
      },
      [&](group_memory& all) { all.leave(last, 1); });
}

}  // namespace
}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
//
// A rank that is killed during the set-up leaves nothing behind.
#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include <sys/file.h>
#include <sys/ptrace.h>

#include "processes.hpp"
#include "transport/shm/segment.hpp"
#include "transport/shm/segment_file.hpp"

namespace {

using namespace tutti::shm;
using tests::child_process;

const std::string prefix = "tutti-segment-";

std::size_t files_of(int pid) {
  std::size_t n = 0;
  for (const auto& file : std::filesystem::directory_iterator("/dev/shm"))
    n += file.path().filename().string().rfind(prefix + std::to_string(pid) + "-", 0) == 0;
  return n;
}

segment_layout small_layout() {
  segment_layout layout(2);
  layout.add_per_rank("block", 4096);
  return layout;
}

// The whole set-up of a leader. Its peer is in the same process.
int lead(memory_kind kind) {
  const segment_layout layout = small_layout();
  segment mine, other;
  segment_offer offer;
  if (!mine.create(kind, layout, offer).empty()) return 2;
  if (!other.attach(offer, layout).empty()) return 3;
  mine.complete_attach();
  if (!mine.join(0).empty()) return 4;
  mine.complete();
  return 0;
}

// Runs a process up to its stop number `stop`, before or after a system call. Calls `then`, which
// gets its pid, and returns true. Returns false if it ended before; then `status` is -1 if this
// process may not trace.
bool stop_process(const std::function<int()>& body, int stop, int& status,
                  const std::function<void(int pid)>& then) {
  const int pid = fork();
  if (pid == 0) {
    if (ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) _exit(9);
    raise(SIGSTOP);
    _exit(body());
  }
  waitpid(pid, &status, 0);
  if (!WIFSTOPPED(status)) {
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 9) << "the process ended with status " << status;
    return status = -1, false;
  }
  for (int i = 0; i < stop && WIFSTOPPED(status); ++i) {
    ptrace(PTRACE_SYSCALL, pid, nullptr, nullptr);
    waitpid(pid, &status, 0);
  }
  if (!WIFSTOPPED(status)) return false;
  then(pid);
  ptrace(PTRACE_CONT, pid, nullptr, nullptr);
  waitpid(pid, &status, 0);
  return true;
}

// Calls `then` and `check` for every stop of a leader. Returns false if no process may be traced.
bool at_every_stop(memory_kind kind, void (*then)(int pid), void (*check)(int status)) {
  for (int stop = 1;; ++stop) {
    SCOPED_TRACE("stop " + std::to_string(stop) + " with " + name_of(kind));
    int status = 0;
    if (stop_process([&] { return lead(kind); }, stop, status, then)) {
      check(status);
      continue;
    }
    if (status == -1) return false;
    EXPECT_EQ(status, 0);
    EXPECT_GT(stop, 40) << "the set-up has more system calls";
    return true;
  }
}

int leftovers = 0;

TEST(crashes, at_every_system_call_of_the_leader) {
  for (const memory_kind kind : {memory_kind::memfd, memory_kind::file}) {
    leftovers = 0;
    const bool traced = at_every_stop(
        kind,
        [](int pid) {
          kill(pid, SIGKILL);
          // The lock is released before the process becomes a zombie.
          siginfo_t info;
          waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT);
          const std::size_t left = files_of(pid);
          EXPECT_LE(left, 1u);
          leftovers += left != 0;
          remove_leftover_files();
          EXPECT_EQ(files_of(pid), 0u);
        },
        [](int status) { EXPECT_TRUE(WIFSIGNALED(status)) << status; });
    if (!traced) GTEST_SKIP() << "the kernel permits no ptrace";
    EXPECT_EQ(leftovers != 0, kind == memory_kind::file) << leftovers;
  }
}

// The leader can tell that a rank is absent or dead, and leaves nothing behind.
TEST(crashes, at_every_system_call_of_another_rank) {
  for (const memory_kind kind : {memory_kind::memfd, memory_kind::file})
    for (int stop = 1;; ++stop) {
      SCOPED_TRACE("stop " + std::to_string(stop) + " with " + name_of(kind));
      const segment_layout layout = small_layout();
      segment mine;
      segment_offer offer;
      ASSERT_EQ(mine.create(kind, layout, offer), "");
      ASSERT_EQ(mine.join(0), "");
      int status = 0;
      const auto take_part = [&] {
        segment other;
        if (!other.attach(offer, layout).empty()) return 2;
        other.complete_attach();
        if (!other.join(1).empty()) return 3;
        other.complete();
        return 0;
      };
      const bool killed = stop_process(take_part, stop, status, [](int pid) { kill(pid, SIGKILL); });
      if (status == -1) GTEST_SKIP() << "the kernel permits no ptrace";
      if (killed) {
        EXPECT_TRUE(WIFSIGNALED(status)) << status;
        EXPECT_TRUE(mine.role(1) != segment_role::joined || !mine.peer_is_alive(1));
      }
      EXPECT_EQ(mine.lost_rank(), -1);
      EXPECT_TRUE(mine.peer_is_alive(0));
      mine.complete_attach();
      EXPECT_EQ(files_of(getpid()), 0u);
      mine.complete();
      if (killed) continue;
      EXPECT_EQ(status, 0);
      EXPECT_EQ(mine.role(1), segment_role::left);
      EXPECT_GT(stop, 15) << "the set-up has more system calls";
      break;
    }
}

// The other leader looks for leftovers at the worst moments, such as before the file is locked.
TEST(crashes, another_leader_begins_at_every_system_call_of_the_leader) {
  for (const memory_kind kind : {memory_kind::memfd, memory_kind::file})
    if (!at_every_stop(
            kind, [](int) { remove_leftover_files(); }, [](int status) { EXPECT_EQ(status, 0); }))
      GTEST_SKIP() << "the kernel permits no ptrace";
}

// The next job removes it, whatever memory it uses.
TEST(crashes, the_next_leader_removes_what_is_left) {
  for (const memory_kind kind : {memory_kind::memfd, memory_kind::file}) {
    child_process crashed([]() -> std::string {
      const segment_layout layout = small_layout();
      segment s;
      segment_offer offer;
      std::string why = s.create(memory_kind::file, layout, offer);
      if (why.empty()) kill(getpid(), SIGKILL);
      return why;
    });
    const int pid = crashed.pid();
    EXPECT_EQ(crashed.result(), "signal 9");
    EXPECT_EQ(lead(kind), 0);
    EXPECT_EQ(files_of(pid), 0u);
  }
}

TEST(crashes, files_of_living_leaders_and_of_others_stay) {
  const segment_layout layout = small_layout();
  segment mine;
  segment_offer offer;
  ASSERT_EQ(mine.create(memory_kind::file, layout, offer), "");
  const std::string other = "/dev/shm/tutti-other-" + std::to_string(getpid());
  close(open(other.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  const std::string link = "/dev/shm/" + prefix + std::to_string(getpid()) + "-link";
  EXPECT_EQ(symlink(other.c_str(), link.c_str()), 0);
  EXPECT_EQ(tests::in_child([] {
              remove_leftover_files();
              return std::string();
            }),
            "");
  EXPECT_EQ(files_of(getpid()), 2u) << "the leader's and the link";
  EXPECT_EQ(unlink(link.c_str()), 0);
  EXPECT_EQ(unlink(other.c_str()), 0);
}

// A leader must not lose its file to another one that looks for leftovers before it has the lock.
TEST(crashes, leaders_that_begin_at_the_same_time_do_not_disturb_one_another) {
  const auto lead_often = [](int times) -> std::string {
    const segment_layout layout = small_layout();
    for (int i = 0; i < times; ++i) {
      segment s, other;
      segment_offer offer;
      std::string why = s.create(memory_kind::file, layout, offer);
      if (why.empty()) why = other.attach(offer, layout);
      if (!why.empty()) return std::to_string(i) + ": " + why;
    }
    return {};
  };
  std::vector<std::unique_ptr<child_process>> leaders;
  for (int i = 0; i < 4; ++i)
    leaders.push_back(std::make_unique<child_process>([&] { return lead_often(500); }));
  for (auto& one : leaders) {
    EXPECT_EQ(one->result(), "");
    EXPECT_EQ(files_of(one->pid()), 0u);
  }
}

}  // namespace

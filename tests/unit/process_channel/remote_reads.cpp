// SPDX-License-Identifier: Apache-2.0
//
// Reads from the memory of other processes, which the kernel refuses or which end early, and peers
// that die.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/process_channel/forked_job.hpp"

namespace tutti::shm {
namespace {

// The receiver's filter refuses process_vm_readv after the probe.
void refuse_remote_reads() {
  sock_filter code[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
  require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
              prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0,
          "seccomp");
}

TEST(process_channel, falls_back_to_cells_if_reads_are_refused) {
  if (!process_memory::may_read(getpid())) GTEST_SKIP() << "the kernel permits no process_vm_readv";
  run_job(3, {.by_address_above = 1000}, [](rank_process& me) {
    if (me.rank() != 0) {
      // Several messages are under way when the first refusal arrives.
      std::deque<std::vector<std::byte>> memory;
      std::deque<send_request> sends;
      for (std::size_t i = 0; i < 6; ++i) {
        memory.push_back(content(i, 20000 + i));
        sends.push_back({i, memory.back().data(), memory.back().size()});
        me.messages.start(0, sends.back());
      }
      test_waiter waiter;
      me.messages.wait(wait_for_space, waiter, [&] {
        return std::all_of(sends.begin(), sends.end(), [](auto& s) { return s.is_complete(); });
      });
      me.send(0, 99, content(99, 30000));
      return;
    }
    const bool permitted = process_memory::may_read(me.pids[1]);  // Yama refuses reads of siblings
    require(me.recv(1, 0, 20000) == content(0, 20000) && me.refusals.empty(), "the first is read by address");
    refuse_remote_reads();
    for (int from = 1; from < 3; ++from) {
      for (std::size_t i = from == 1 ? 1 : 0; i < 6; ++i)
        require(me.recv(from, i, 20005) == content(i, 20000 + i), "a message is not intact");
      require(me.recv(from, 99, 30000) == content(99, 30000), "a later message is not intact");
    }
    require(!permitted || me.refusals == std::vector{std::pair(1, EPERM)},
            "the refusal is not reported once");
  });
}

TEST(process_channel, a_probe_checks_the_permission) {
  if (!process_memory::may_read(getpid())) GTEST_SKIP() << "the kernel permits no process_vm_readv";
  const pid_t child = fork();
  if (child == 0) {
    pause();
    _exit(0);
  }
  EXPECT_TRUE(process_memory::may_read(child));
  const pid_t prober = fork();
  if (prober == 0) {
    try {
      refuse_remote_reads();
    } catch (const failure&) {
      _exit(2);
    }
    _exit(process_memory::may_read(child) ? 1 : 0);
  }
  int status = 0;
  waitpid(prober, &status, 0);
  EXPECT_EQ(status, 0);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(process_channel, reads_nothing_from_a_process_that_has_ended) {
  if (!process_memory::may_read(getpid())) GTEST_SKIP() << "the kernel permits no process_vm_readv";
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  char byte;
  int error = 0;
  EXPECT_EQ(process_memory::read_remote(child, &byte, reinterpret_cast<std::uintptr_t>(&byte), 1, error),
            remote_read::gone);
}

TEST(process_channel, reads_more_than_one_system_call_moves) {
  if (!process_memory::may_read(getpid())) GTEST_SKIP() << "the kernel permits no process_vm_readv";
  const std::vector<std::byte> from = content(1, 100001);
  std::vector<std::byte> to(from.size());
  int error = 0;
  EXPECT_EQ(process_memory::read_remote(getpid(), to.data(), reinterpret_cast<std::uintptr_t>(from.data()),
                                        from.size(), error, 1000),
            remote_read::complete);
  EXPECT_EQ(to, from);
}

TEST(process_channel, reports_a_read_that_ends_early) {
  if (!process_memory::may_read(getpid())) GTEST_SKIP() << "the kernel permits no process_vm_readv";
  auto* const from = static_cast<std::byte*>(
      mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(from), MAP_FAILED);
  munmap(from + 2 * page, 2 * page);
  std::vector<std::byte> to(3 * page);
  int error = 0;
  EXPECT_EQ(process_memory::read_remote(getpid(), to.data(), reinterpret_cast<std::uintptr_t>(from),
                                        to.size(), error),
            remote_read::refused);
  EXPECT_EQ(error, EFAULT);
  munmap(from, 2 * page);
}

// Throws when a process no longer exists.
struct watching_waiter : process_waiter {
  struct died : std::exception {};
  explicit watching_waiter(pid_t p) : process_waiter(50), watched(p) {}
  void check() override {
    if (kill(watched, 0) != 0 && errno == ESRCH) throw died();
  }
  pid_t watched;
};

TEST(process_channel, reports_a_killed_sender) {
  for (const std::size_t by_address : {never, std::size_t{1000}}) {
    job j(2, {.by_address_above = by_address});
    j.start([](rank_process& me) {
      if (me.rank() == 1) {
        me.send(0, 1, content(0, 8));
        for (;;) pause();
      }
      me.recv(1, 1, 8);
      std::vector<std::byte> target(100000);
      recv_request r{2, target.data(), target.size()};
      me.messages.start(1, r);
      watching_waiter waiter(me.pids[1]);
      try {
        me.messages.wait(wait_for_message, waiter, [&] { return r.is_complete(); });
      } catch (const watching_waiter::died&) {
        return;
      }
      throw failure("the wait ended without a message");
    });
    usleep(100000);
    const auto killed = process_memory::milliseconds();
    j.kill_rank(1);
    j.finish();
    EXPECT_LT(process_memory::milliseconds() - killed, 2000u);
  }
}

}  // namespace
}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
//
// Tests that a process is recognized while it is alive, and no longer.
#include <fstream>

#include <pthread.h>
#include <sys/syscall.h>

#include "processes.hpp"
#include "transport/shm/process_identity.hpp"

namespace {

using namespace tutti::shm;
using tests::child_process;
using tests::eventually;

// Publishes its identity through a pipe and waits.
struct waiting_child {
  explicit waiting_child(void (*then)() = nullptr)
      : child([&] {
          const process_identity self = this_process();
          if (write(ends[1], &self, sizeof self) != sizeof self) return "write";
          if (then != nullptr) then();
          for (;;) pause();
        }) {
    if (read(ends[0], &identity, sizeof identity) != sizeof identity) identity = {};
  }
  ~waiting_child() { close(ends[0]), close(ends[1]); }
  struct pipe_ends {
    int end[2];
    pipe_ends() { EXPECT_EQ(pipe(end), 0); }
    int operator[](int i) const { return end[i]; }
  } ends;
  process_identity identity;
  child_process child;
};

char state_of(int pid) {
  std::ifstream in("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(in, text);
  const std::size_t at = text.rfind(") ");
  return at == text.npos ? '-' : text[at + 2];
}

TEST(process_identity, a_process_knows_itself) {
  const process_identity self = this_process();
  EXPECT_EQ(self.pid, getpid());
  EXPECT_NE(self.start, 0u);
  EXPECT_NE(self.pid_namespace, 0u);
  EXPECT_TRUE(is_alive(self, self));
}

TEST(process_identity, a_stopped_process_is_alive_and_a_zombie_is_dead) {
  const process_identity self = this_process();
  waiting_child other;
  ASSERT_EQ(other.identity.pid, other.child.pid());
  EXPECT_TRUE(is_alive(other.identity, self));
  kill(other.child.pid(), SIGSTOP);
  ASSERT_TRUE(eventually([&] { return state_of(other.child.pid()) == 'T'; }));
  EXPECT_TRUE(is_alive(other.identity, self));
  kill(other.child.pid(), SIGKILL);
  ASSERT_TRUE(eventually([&] { return state_of(other.child.pid()) == 'Z'; }));
  EXPECT_FALSE(is_alive(other.identity, self));
  other.child.reap();
  EXPECT_FALSE(is_alive(other.identity, self));
}

TEST(process_identity, a_reused_pid_is_another_process) {
  const process_identity self = this_process();
  waiting_child other;
  process_identity earlier = other.identity;
  --earlier.start;
  EXPECT_FALSE(is_alive(earlier, self));
}

TEST(process_identity, a_process_whose_first_thread_has_ended_is_alive) {
  const process_identity self = this_process();
  waiting_child other([] {
    pthread_t thread;
    pthread_create(
        &thread, nullptr,
        [](void*) -> void* {
          for (;;) pause();
        },
        nullptr);
    syscall(SYS_exit, 0);  // pthread_exit() would unwind the stack of the test
  });
  ASSERT_TRUE(eventually([&] { return state_of(other.child.pid()) == 'Z'; }));
  EXPECT_TRUE(is_alive(other.identity, self));
  kill(other.child.pid(), SIGKILL);
  EXPECT_TRUE(eventually([&] { return !is_alive(other.identity, self); }));
}

// Nothing is known of a process of another namespace, so it must not be reported as dead.
TEST(process_identity, processes_of_other_namespaces_are_alive) {
  process_identity self = this_process();
  waiting_child other;
  process_identity foreign = other.identity;
  foreign.pid_namespace ^= 1;
  ++foreign.start;
  EXPECT_TRUE(is_alive(foreign, self));
  foreign = other.identity;
  foreign.time_namespace ^= 1;
  ++foreign.start;
  EXPECT_TRUE(is_alive(foreign, self));
  kill(other.child.pid(), SIGKILL);
  other.child.reap();
  EXPECT_FALSE(is_alive(foreign, self)) << "kill() finds no process";
}

// A name may contain parentheses and spaces.
TEST(process_identity, the_name_of_the_program_does_not_matter) {
  EXPECT_EQ(tests::in_child([] {
              const process_identity before = this_process();
              prctl(PR_SET_NAME, ") Z 1 2 (");
              const process_identity after = this_process();
              return before.start == after.start && is_alive(before, after) ? "same" : "different";
            }),
            "same");
}

}  // namespace

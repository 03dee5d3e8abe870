// SPDX-License-Identifier: Apache-2.0
//
// exit() ends the process, so the ranks of all jobs of the process are counted together.
//
// Several ranks may call exit() at once. The C library calls each registration of a handler once,
// and the threads share the registrations. A thread that finds none left ends the process with its
// own status. So the handler is registered once for each rank, and the first caller reports.
#include "engines/embedded/exits.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include <dlfcn.h>
#include <unistd.h>

#include "transport/shm/current_rank.hpp"

namespace tutti::detail {
namespace {

std::atomic<int>& ranks_of_process() {
  static std::atomic<int> ranks{0};
  return ranks;
}

// The process in which ranks were last started. A forked child has a copy of the count, but no
// ranks.
std::atomic<pid_t>& process_of_ranks() {
  static std::atomic<pid_t> process{0};
  return process;
}

// The last running rank may end the process in this way.
bool may_exit(int rank) {
  if (process_of_ranks().load(std::memory_order_relaxed) != getpid()) return true;
  const int running = ranks_of_process().load(std::memory_order_relaxed);
  return running == 0 || (running == 1 && rank >= 0);
}

// The first caller prints the report and ends the process. The others sleep until then.
[[noreturn]] void end_process(int rank, int status) {
  static std::atomic<bool> reported{false};
  if (reported.exchange(true)) {
    std::this_thread::sleep_for(std::chrono::minutes(1));
    std::_Exit(status != 0 ? status : 1);
  }
  std::fflush(stdout);
  constexpr const char* remedy = "return from the program instead, or throw";
  if (rank >= 0)
    std::fprintf(stderr, "tutti: rank %d has called exit(%d) while other ranks run, which ends the job; %s\n",
                 rank, status, remedy);
  else
    std::fprintf(stderr, "tutti: exit(%d) was called while ranks run, which ends the job; %s\n", status,
                 remedy);
  std::_Exit(status != 0 ? status : 1);
}

// Called by exit() on the calling thread. A caller that stays here registers the handler again for
// the callers that follow.
void at_exit(int status, void*) {
  const int rank = shm::rank_of_thread();
  if (may_exit(rank)) return;
  on_exit(at_exit, nullptr);
  end_process(rank, status);
}

void at_quick_exit() {
  const int rank = shm::rank_of_thread();
  if (may_exit(rank)) return;
  std::at_quick_exit(at_quick_exit);
  end_process(rank, 0);
}

// The handlers stay registered until the process ends. So the library must not be unloaded.
void keep_library_loaded() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&at_exit), &info) != 0 && info.dli_fname != nullptr)
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void register_exit_handlers(int ranks) {
  // The number of threads that may call exit() before one of them registers it again.
  constexpr int max_handlers = 64;
  static std::mutex lock;
  static int registered = 0;
  const std::lock_guard guard(lock);
  if (registered == 0) keep_library_loaded();
  for (; registered < std::min(ranks, max_handlers); ++registered) {
    on_exit(at_exit, nullptr);
    std::at_quick_exit(at_quick_exit);
  }
}

}  // namespace

// A single rank leaves no other rank behind.
running_ranks::running_ranks(int ranks) : running_(ranks > 1 ? ranks : 0) {
  if (ranks <= 1) return;
  register_exit_handlers(ranks);
  if (process_of_ranks().exchange(getpid(), std::memory_order_relaxed) != getpid()) ranks_of_process() = 0;
  ranks_of_process().fetch_add(ranks, std::memory_order_relaxed);
}

running_ranks::~running_ranks() { ranks_of_process().fetch_sub(running_, std::memory_order_relaxed); }

void running_ranks::rank_ended() noexcept {
  if (running_.load(std::memory_order_relaxed) == 0) return;
  running_.fetch_sub(1, std::memory_order_relaxed);
  ranks_of_process().fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace tutti::detail

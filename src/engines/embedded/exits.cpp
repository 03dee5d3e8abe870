// SPDX-License-Identifier: Apache-2.0
//
// exit() ends the process, so the ranks of all jobs of the process are counted together.
#include "engines/embedded/exits.hpp"

#include <cstdio>
#include <cstdlib>
#include <mutex>

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
  static std::atomic<pid_t> number{0};
  return number;
}

// Called by exit() on the calling thread. The last running rank may end the process in this way.
void at_exit(int status, void*) {
  if (process_of_ranks().load(std::memory_order_relaxed) != getpid()) return;
  const int running = ranks_of_process().load(std::memory_order_relaxed);
  const int rank = shm::rank_of_thread();
  if (running == 0 || (running == 1 && rank >= 0)) return;
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

void at_quick_exit() { at_exit(0, nullptr); }

// The handler stays registered until the process ends. So the library must not be unloaded.
void register_exit_handlers() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&at_exit), &info) != 0 && info.dli_fname != nullptr)
    dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  on_exit(at_exit, nullptr);
  std::at_quick_exit(at_quick_exit);
}

}  // namespace

// A single rank leaves no other rank behind.
running_ranks::running_ranks(int ranks) : running_(ranks > 1 ? ranks : 0) {
  if (ranks <= 1) return;
  static std::once_flag once;
  std::call_once(once, register_exit_handlers);
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

// SPDX-License-Identifier: Apache-2.0
#include "engines/mpi/long_wait.hpp"

#include <chrono>
#include <cstdio>
#include <system_error>

#include <signal.h>

namespace tutti::mpi {

long_wait::long_wait(const endpoint& ep, native_word& word, double seconds)
    : ep_(ep), word_(word), timeout_(seconds) {
  // The new thread must not receive signals of the program.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    thread_ = std::thread([this] { watch(); });
  } catch (const std::system_error&) {
    // An exception on one rank would leave the other ranks waiting.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

long_wait::~long_wait() {
  {
    const std::lock_guard guard(lock_);
    stopping_ = true;
  }
  end_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void long_wait::watch() {
  std::unique_lock guard(lock_);
  auto since = std::chrono::steady_clock::now();
  while (!end_.wait_for(guard, std::chrono::seconds(1), [&] { return stopping_; })) {
    if (reported_.load(std::memory_order_relaxed)) continue;
    std::uintptr_t now = word_.load(std::memory_order_relaxed);
    if (now == 0) continue;
    const auto time = std::chrono::steady_clock::now();
    if ((now & 1) == 0) {  // another call than at the last test
      word_.compare_exchange_strong(now, now | 1, std::memory_order_relaxed);
      since = time;
      continue;
    }
    if (std::chrono::duration<double>(time - since).count() < timeout_) continue;
    const char* const name = in_native::name_in(now);
    const shm::wait_site site{name, "", "the other ranks", -1, -1, shm::wait_site::unnumbered};
    const std::string where = shm::describe(site, ep_.current_call());
    if (word_.load(std::memory_order_relaxed) == now) report(where);
  }
}

void long_wait::report(const std::string& where) {
  if (reported_.exchange(true)) return;
  const std::string text = "tutti: rank " + std::to_string(ep_.rank()) + " has waited for more than " +
                           std::to_string(static_cast<int>(timeout_)) + " s " + where +
                           "; TUTTI_CHECK=1 finds the cause of a deadlock\n";
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
#include "engines/embedded/sleep.hpp"

#include <ctime>

#include <sched.h>

#if defined(__linux__)
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tutti::detail {

wait_policy wait_policy_for(int threads) noexcept {
  return threads <= usable_cores() ? wait_policy{4000, 50} : wait_policy{20, 200};
}

int usable_cores() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int n = CPU_COUNT(&set);
  return n > 0 ? n : 1;
}

void pin_to_core(int index) noexcept {
  cpu_set_t all, one;
  CPU_ZERO(&all);
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  const int n = CPU_COUNT(&all);
  int remaining = n > 0 ? index % n : 0;
  for (int c = 0; c < CPU_SETSIZE; ++c) {
    if (!CPU_ISSET(c, &all) || remaining-- != 0) continue;
    CPU_ZERO(&one);
    CPU_SET(c, &one);
    sched_setaffinity(0, sizeof one, &one);
    return;
  }
}

bool should_pin(std::optional<bool> requested, int threads) noexcept {
  return requested.value_or(threads == usable_cores());
}

void yield_core() noexcept { sched_yield(); }

void sleep_on(shm::wakeup_flag& wakeup, int milliseconds) noexcept {
  const timespec limit{milliseconds / 1000, (milliseconds % 1000) * 1000000L};
#if defined(__linux__)
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&wakeup.armed), FUTEX_WAIT_PRIVATE, 1, &limit, nullptr,
          0);
#else
  nanosleep(&limit, nullptr);
#endif
}

void wake(shm::wakeup_flag& wakeup) noexcept {
  if (wakeup.armed.exchange(0, std::memory_order_acq_rel) == 0) return;
#if defined(__linux__)
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&wakeup.armed), FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr,
          0);
#endif
}

}  // namespace tutti::detail

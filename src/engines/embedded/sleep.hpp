// SPDX-License-Identifier: Apache-2.0
//
// Waits of a thread. It polls while a core is free, then yields, then sleeps until its wakeup flag
// is rung.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/shm/wakeup_flag.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::detail {

inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The number of polls before a thread yields, and of yields before it sleeps. With more threads
/// than cores, polling takes the core from the thread that is waited for.
struct wait_policy {
  int spins, yields;
};
wait_policy wait_policy_for(int threads) noexcept;

/// The number of cores that this process may use (its affinity, not the machine's total).
TUTTI_API int usable_cores() noexcept;

/// Binds the calling thread to the `index`-th usable core.
void pin_to_core(int index) noexcept;

/// Whether to bind threads: as `requested` states, otherwise only if there are as many threads as
/// cores.
bool should_pin(std::optional<bool> requested, int threads) noexcept;

/// Yields the core to another thread.
void yield_core() noexcept;

/// Sleeps while wakeup.armed is 1, for at most `milliseconds`.
void sleep_on(shm::wakeup_flag& wakeup, int milliseconds) noexcept;

/// Disarms the flag and wakes the sleeper.
void wake(shm::wakeup_flag& wakeup) noexcept;

/// Arms the flag and calls `ready` once more, with the stores of all writers visible. Sleeps if it
/// returns false.
template <class Ready>
void sleep_unless(shm::wakeup_flag& wakeup, Ready&& ready) {
  wakeup.armed.store(1, std::memory_order_relaxed);
  const bool ordered = shm::barrier_on_all_threads();
  if (!ready()) sleep_on(wakeup, ordered ? 1000 : 1);
  wakeup.armed.store(0, std::memory_order_relaxed);
}

}  // namespace tutti::detail

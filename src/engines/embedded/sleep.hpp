// SPDX-License-Identifier: Apache-2.0
//
// What a thread does while it has nothing to do: look again quickly while a core is free for that, let others
// run, and then sleep until its bell rings.
#pragma once

#include <cstdint>
#include <optional>

#include "transport/shm/wakeup_flag.hpp"

namespace tutti {

inline void relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Looks that a waiting thread makes before it yields, and yields before it sleeps. Spinning on a machine
/// with more threads than cores takes the core from whoever is waited for.
struct patience {
  int spins, yields;
};
patience patience_for(int threads) noexcept;

/// Cores that this process may use (affinity, not the machine's total).
int usable_cores() noexcept;

/// Binds the calling thread to the `index`-th usable core.
void pin_to_core(int index) noexcept;

/// Whether to: as wished, else where there are as many threads as cores.
bool pins(std::optional<bool> wish, int threads) noexcept;

/// Lets the core go to another thread.
void yield_core() noexcept;

/// Sleeps while bell.armed is 1, for at most `milliseconds`.
void sleep_on(shm::wakeup_flag& wakeup, int milliseconds) noexcept;

/// Disarms and wakes the sleeper.
void wake(shm::wakeup_flag& wakeup) noexcept;

/// Arms the bell, calls `ready` once more with every writer's store visible, and sleeps if it still says no.
template <class Ready>
void sleep_unless(shm::wakeup_flag& wakeup, Ready&& ready) {
  wakeup.armed.store(1, std::memory_order_relaxed);
  const bool ordered = shm::barrier_on_all_threads();
  if (!ready()) sleep_on(wakeup, ordered ? 1000 : 1);
  wakeup.armed.store(0, std::memory_order_relaxed);
}

}  // namespace tutti

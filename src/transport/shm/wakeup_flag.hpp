// SPDX-License-Identifier: Apache-2.0
//
// How a writer tells a sleeper. Whoever is about to sleep arms its doorbell and looks at its condition once
// more; whoever has made a condition true looks at the doorbell and rings only if it is armed. The usual
// case, nobody asleep, costs the writer one load of a line that is hardly ever written.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti::shm {

struct alignas(64) wakeup_flag {
  std::atomic<std::uint32_t> armed{0};
};

/// Wakes whoever armed the bell. The engine knows how: a ready list, or a futex.
class waker {
 public:
  virtual void ring(wakeup_flag& wakeup) noexcept = 0;

 protected:
  ~waker() = default;
};

/// Between threads the writer's store and its look at the bell may change places in the processor. The
/// sleeper pays for that, not the writer: before its last look it makes every thread of the process pass a
/// barrier. False where the kernel cannot; then sleepers must not sleep for long.
bool barrier_on_all_threads() noexcept;

}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
//
// A flag by which a writer wakes a sleeper. A sleeper arms its wakeup flag and then tests its
// condition once more. A writer makes a condition true, reads the flag, and rings only if it is
// armed. Usually nobody sleeps. Then the writer pays one load of a line that is rarely written.
#pragma once

#include <atomic>
#include <cstdint>

namespace tutti::shm {

struct alignas(64) wakeup_flag {
  std::atomic<std::uint32_t> armed{0};
};

/// Wakes the rank or thread that armed the flag. The engine implements it with a ready list or a
/// futex.
class waker {
 public:
  virtual void ring(wakeup_flag& wakeup) noexcept = 0;

 protected:
  ~waker() = default;
};

/// The processor may reorder the writer's store and its read of the flag. The sleeper prevents
/// this, not the writer. Before its last test it makes every thread of the process pass a memory
/// barrier (membarrier). Returns false if the kernel does not support it; sleeps must be short
/// then.
bool barrier_on_all_threads() noexcept;

}  // namespace tutti::shm

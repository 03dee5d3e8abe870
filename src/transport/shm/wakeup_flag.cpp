// SPDX-License-Identifier: Apache-2.0
#include "transport/shm/wakeup_flag.hpp"

#if defined(__linux__)
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace tutti::shm {

bool barrier_on_all_threads() noexcept {
#if defined(__linux__)
  // Registering again is cheap and harmless, so no mutable global needs to remember it.
  static const bool registered =
      syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
  return registered && syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
#else
  return false;
#endif
}

}  // namespace tutti::shm

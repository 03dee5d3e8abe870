// SPDX-License-Identifier: Apache-2.0
//
// Identifies a process on its machine for longer than its pid does. The kernel reuses the pid of a
// process that has ended. So the identity also has the time when the process began.
#pragma once

#include <cstdint>

namespace tutti::shm {

/// Trivially copyable, so that processes can exchange it through memory.
struct process_identity {
  std::int32_t pid = 0;
  std::uint64_t start = 0;  ///< clock ticks since the machine booted; 0: unknown
  // Inodes. Only processes of the same namespaces read the same pid and the same start time for a
  // process. 0: unknown.
  std::uint64_t pid_namespace = 0;
  std::uint64_t time_namespace = 0;
};

process_identity this_process() noexcept;

/// Whether the process runs, as far as `self`, the calling process, can tell. If their namespaces
/// differ, or /proc is not readable, the result is true. A stopped process is alive. A zombie whose
/// threads have all ended is dead. Takes three system calls and no memory.
bool is_alive(const process_identity& process, const process_identity& self) noexcept;

}  // namespace tutti::shm

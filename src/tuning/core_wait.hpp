// SPDX-License-Identifier: Apache-2.0
//
// How long a thread was ready to run but had no core, because other threads had it. Linux counts
// this for each thread, also in a container. The load average does not show it there: it is that of
// the host, and it follows the present load by a minute.
#pragma once

#include <fstream>
#include <optional>

namespace tutti::tuning {

/// Nanoseconds since the thread began.
struct core_times {
  double running = 0, waiting = 0;

  /// The fraction of the time since `former` in which the thread waited for a core. A thread that
  /// sleeps waits for no core.
  double waiting_since(const core_times& former) const noexcept {
    const double ran = running - former.running, waited = waiting - former.waiting;
    return waited > 0 ? waited / (ran + waited) : 0;
  }
};

/// Those of the calling thread; nothing if the system does not count them.
inline std::optional<core_times> times_of_thread() {
  std::ifstream file("/proc/thread-self/schedstat");
  core_times t;
  if (!(file >> t.running >> t.waiting)) return {};
  return t;
}

}  // namespace tutti::tuning

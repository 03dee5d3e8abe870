// SPDX-License-Identifier: Apache-2.0
//
// The interface that the shared-memory transport needs from the code that runs the ranks. It waits
// for a word in memory, and has the reason of the wait for reports.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "transport/shm/wakeup_flag.hpp"
#include "tutti/detail/call_site.hpp"

namespace tutti::shm {

/// The reason why a rank waits, for reports. It lives on the waiter's stack; the strings are
/// literals.
struct wait_site {
  const char* operation = "";  ///< "allreduce"
  const char* algorithm = "";  ///< "allreduce/ring"
  const char* what = "";       ///< "a message from", "all members of the group"
  int peer = -1;               ///< job rank; -1: no particular peer
  int round = -1;
  /// Sequence number of the call on this communicator; unnumbered: point-to-point.
  std::uint64_t run = 0;
  int tag = -1;  ///< of a message of the program; else -1

  static constexpr std::uint64_t unnumbered = ~std::uint64_t{0};
};

class wait_interface {
 public:
  /// Returns when `word` has reached `value` (wrapping comparison). `local`: the writer runs on the
  /// same worker and rings this rank's wakeup flag. Throws peer_error or deadlock_error.
  virtual void wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, bool local,
                    const wait_site& site) = 0;

  /// For a rank that polls several things: lets other ranks run for a while. Throws as wait() does.
  virtual void pause(const wait_site& site) = 0;
  /// Ends a series of pauses, because a poll succeeded.
  virtual void progressed() noexcept {}

  /// Called around every direct read of another rank's memory. After the job has failed,
  /// begin_reading() throws. A rank does not leave before all reads of its memory have ended; see
  /// wait_for_readers().
  virtual void begin_reading(const wait_site& site) = 0;
  virtual void end_reading() noexcept = 0;

  /// The wakeup flag that writers on the same worker ring.
  virtual wakeup_flag& wakeup() noexcept = 0;

 protected:
  ~wait_interface() = default;
};

/// The scope of one direct access to another rank's memory.
class reading {
 public:
  reading(wait_interface& w, const wait_site& site) : wait_interface_(w) {
    wait_interface_.begin_reading(site);
  }
  ~reading() { wait_interface_.end_reading(); }
  reading(const reading&) = delete;
  reading& operator=(const reading&) = delete;

 private:
  wait_interface& wait_interface_;
};

inline bool reached(std::uint32_t word, std::uint32_t value) noexcept {
  return static_cast<std::int32_t>(word - value) >= 0;
}

/// "in allreduce at sums.cpp:42 (allreduce/ring), call 7, round 3, waits for a message from rank 2"
/// Of a step of another call: "in sort_globally at sort.cpp:42 (allreduce/ring), call 7, ..."
std::string describe(const wait_site& site, const detail::current_call& now = {});

}  // namespace tutti::shm

// SPDX-License-Identifier: Apache-2.0
//
// What the fabric asks of whoever runs the ranks: to let one wait for a word in memory, and to say why it
// waits.
#pragma once

#include <atomic>
#include <cstdint>
#include <source_location>
#include <string>

#include "transport/shm/wakeup_flag.hpp"

namespace tutti::shm {

/// Why a rank waits, for reports. Lives on the waiter's stack; the texts are literals.
struct wait_site {
  const char* operation = "";  ///< "allreduce"
  const char* algorithm = "";  ///< "allreduce/ring"
  const char* what = "";       ///< "a message from", "all members of the group"
  int peer = -1;               ///< job's rank; -1: nobody in particular
  int round = -1;
  std::uint64_t run = 0;  ///< which call on this communicator; unnumbered: mail is not counted
  int tag = -1;           ///< of the message, where it has one of the program's

  static constexpr std::uint64_t unnumbered = ~std::uint64_t{0};
};

class wait_interface {
 public:
  /// Returns when `word` has reached `value` (wrapping comparison). `local`: the writer runs on the same
  /// worker and rings this rank's bell. Throws peer_error or deadlock_error.
  virtual void wait(const std::atomic<std::uint32_t>& word, std::uint32_t value, bool local,
                    const wait_site& site) = 0;

  /// For one who waits for several things: lets others run for a while. Throws as wait().
  virtual void pause(const wait_site& site) = 0;
  /// Ends a series of pauses: something came of it.
  virtual void progressed() noexcept {}

  /// Around every look into another rank's memory. Once the job has failed nobody begins one (it throws), and
  /// nobody whose memory may be looked at leaves before all have ended: see leave_normally().
  virtual void begin_reading(const wait_site& site) = 0;
  virtual void end_reading() noexcept = 0;

  /// The bell that same-worker writers ring.
  virtual wakeup_flag& wakeup() noexcept = 0;

 protected:
  ~wait_interface() = default;
};

/// One look into another rank's memory.
class reading {
 public:
  reading(wait_interface& who, const wait_site& site) : who_(who) { who_.begin_reading(site); }
  ~reading() { who_.end_reading(); }
  reading(const reading&) = delete;
  reading& operator=(const reading&) = delete;

 private:
  wait_interface& who_;
};

inline bool reached(std::uint32_t word, std::uint32_t value) noexcept {
  return static_cast<std::int32_t>(word - value) >= 0;
}

/// "in allreduce at sums.cpp:42 (allreduce/ring), call 7, round 3, waits for a message from rank 2"
std::string describe(const wait_site& site, const std::source_location& at = {});

}  // namespace tutti::shm

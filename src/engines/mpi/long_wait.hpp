// SPDX-License-Identifier: Apache-2.0
//
// A rank that has waited for long says once where: without checked mode nobody else would see a deadlock over
// MPI. Waits that poll ask for it themselves. A blocking collective of MPI's own polls nothing, so a thread
// looks every second whether this rank is still in the same one; it does not call MPI.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <source_location>
#include <string>
#include <thread>

#include "engines/endpoint.hpp"
#include "fabric/waiting.hpp"

namespace tutti::mpi {

/// The blocking collective of MPI's own in which this process, which is one rank, is: its name's address; 0:
/// in none. A call is short, so it pays two stores. The thread sets the lowest bit, by which it knows the
/// same call again; names are at even addresses.
extern std::atomic<std::uintptr_t> native_under_way [[gnu::visibility("hidden")]];

/// While one lives, this rank is in a blocking collective of MPI's.
class in_native {
 public:
  explicit in_native(const char* const& name) noexcept {
    native_under_way.store(reinterpret_cast<std::uintptr_t>(&name), std::memory_order_relaxed);
  }
  ~in_native() { native_under_way.store(0, std::memory_order_relaxed); }
  in_native(const in_native&) = delete;
  in_native& operator=(const in_native&) = delete;
};

class long_wait {
 public:
  /// Reports waits of more than so many seconds. `door` outlives it.
  long_wait(const endpoint& door, double seconds);
  ~long_wait();
  long_wait(const long_wait&) = delete;
  long_wait& operator=(const long_wait&) = delete;

  /// This rank has waited at `site` for so long.
  void waited(const fabric::wait_site& site, double seconds) {
    if (seconds > patience_ && !said_.load(std::memory_order_relaxed)) [[unlikely]]
      say(fabric::describe(site, door_.place()));
  }

 private:
  void say(const std::string& where);
  void look();

  const endpoint& door_;
  const double patience_;
  std::atomic<bool> said_{false};
  bool over_ = false;
  std::mutex lock_;
  std::condition_variable end_;
  std::thread looking_;
};

}  // namespace tutti::mpi

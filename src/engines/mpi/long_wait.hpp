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

#include "transport/endpoint.hpp"
#include "transport/shm/wait_interface.hpp"

namespace tutti::mpi {

/// The blocking collective of MPI's own in which the rank of one endpoint is; 0: in none. A call is short, so
/// it pays two stores. The word is the address of the call's name, a literal, twice: the highest bit of an
/// address is free, and the lowest bit of the word is the watching thread's mark, by which it knows the same
/// call again.
using native_word = std::atomic<std::uintptr_t>;

/// While one lives, the rank is in a blocking collective of MPI's.
class in_native {
 public:
  /// `name`: a literal, which another thread may read when the call is over.
  in_native(native_word& word, const char* name) noexcept : word_(word) {
    word_.store(reinterpret_cast<std::uintptr_t>(name) << 1, std::memory_order_relaxed);
  }
  ~in_native() { word_.store(0, std::memory_order_relaxed); }
  in_native(const in_native&) = delete;
  in_native& operator=(const in_native&) = delete;

 private:
  native_word& word_;
};

class long_wait {
 public:
  /// Reports waits of more than so many seconds. `ep` and its word outlive it. Where the process can have
  /// no more threads, nobody watches blocking collectives.
  long_wait(const endpoint& ep, native_word& word, double seconds);
  ~long_wait();
  long_wait(const long_wait&) = delete;
  long_wait& operator=(const long_wait&) = delete;

  /// This rank has waited at `site` for so long.
  void waited(const shm::wait_site& site, double seconds) {
    if (seconds > patience_ && !said_.load(std::memory_order_relaxed)) [[unlikely]]
      report(shm::describe(site, ep_.place()));
  }

 private:
  void report(const std::string& where);
  void look();

  const endpoint& ep_;
  native_word& word_;
  const double patience_;
  std::atomic<bool> said_{false};
  bool over_ = false;
  std::mutex lock_;
  std::condition_variable end_;
  std::thread looking_;
};

}  // namespace tutti::mpi

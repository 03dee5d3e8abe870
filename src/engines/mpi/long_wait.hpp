// SPDX-License-Identifier: Apache-2.0
//
// A rank that has waited long reports its place once. Without checked mode, nothing else would
// reveal a deadlock over MPI. Waits that poll call waited() themselves. A blocking collective of
// MPI does not poll. So a thread tests every second whether this rank is still in the same one. The
// thread does not call MPI.
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

using namespace tutti::detail;

/// The blocking MPI collective that the rank of one endpoint is in; 0: none. A call may be short,
/// so it costs only two stores. The word is twice the address of the call's name, a literal. The
/// highest bit of an address is free. The lowest bit of the word is the mark by which the watching
/// thread recognizes the same call.
using native_word = std::atomic<std::uintptr_t>;

/// While an object of this class exists, the rank is in a blocking MPI collective.
class in_native {
 public:
  /// `name`: a literal, because another thread may read it after the call.
  in_native(native_word& word, const char* name) noexcept : word_(word) {
    word_.store(word_of(name), std::memory_order_relaxed);
  }
  ~in_native() { word_.store(0, std::memory_order_relaxed); }
  in_native(const in_native&) = delete;
  in_native& operator=(const in_native&) = delete;

  /// The word during a call, for calls that store it themselves, and the name in it.
  static std::uintptr_t word_of(const char* name) noexcept {
    return reinterpret_cast<std::uintptr_t>(name) << 1;
  }
  static const char* name_in(std::uintptr_t word) noexcept {
    return reinterpret_cast<const char*>(word >> 1);
  }

 private:
  native_word& word_;
};

class long_wait {
 public:
  /// Reports waits of more than `seconds`. `ep` and `word` must outlive this object. If the process
  /// cannot start another thread, blocking collectives are not watched.
  long_wait(const endpoint& ep, native_word& word, double seconds);
  ~long_wait();
  long_wait(const long_wait&) = delete;
  long_wait& operator=(const long_wait&) = delete;

  /// Called when this rank has waited at `site` for `seconds`.
  void waited(const shm::wait_site& site, double seconds) {
    if (seconds > timeout_ && !reported_.load(std::memory_order_relaxed)) [[unlikely]]
      report(shm::describe(site, ep_.current_call()));
  }

 private:
  void report(const std::string& where);
  void watch();

  const endpoint& ep_;
  native_word& word_;
  const double timeout_;
  std::atomic<bool> reported_{false};
  bool stopping_ = false;
  std::mutex lock_;
  std::condition_variable end_;
  std::thread thread_;
};

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
//
// Nonblocking collectives that tutti has begun. The program holds a generalized request of MPI's for each, so
// its requests are MPI's own kind and go with all others in one MPI_Waitall. MPI does nothing for such a
// request; so whatever waits or tests in MPI lets these calls go on first (waiting.cpp).
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <vector>

#include "preload/laid_call.hpp"
#include "preload/members.hpp"
#include "tutti/core/port.hpp"

namespace tutti::preload {

struct process;

class under_way {
 public:
  explicit under_way(process& p) : p_(p) {}
  ~under_way();
  under_way(const under_way&) = delete;
  under_way& operator=(const under_way&) = delete;

  /// Begins a laid call; `request` is the program's. Its errors come with the request's completion.
  void begin(std::shared_ptr<member> of, std::unique_ptr<laid_call> laid, MPI_Request* request);
  /// Nothing is: the way of nearly all who wait.
  bool none() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  /// Lets all go on, and completes the requests of those that are over.
  void go_on();
  void wait_all();

 private:
  struct one;
  static int query(void* extra, MPI_Status* status);
  static int let_go(void* extra);
  static int cancel(void* extra, int complete);
  void finish(one& o, int code);

  process& p_;
  std::vector<one*> all_;  // in the order in which they were begun
  std::atomic<std::size_t> count_{0};
};

/// A rank that has tried in vain for a while leaves its core to others.
class patience {
 public:
  void pause() noexcept;

 private:
  int tries_ = 0;
};

}  // namespace tutti::preload

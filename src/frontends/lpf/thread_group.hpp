// SPDX-License-Identifier: Apache-2.0
//
// Threads that the program made and that found one another in lpf_pthread_initialize(). Each of
// their sections is a job of its own on the threads engine. So a failure ends with its section.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "lpf/core.h"

namespace tutti::lpf {

struct context;

class thread_group {
 public:
  explicit thread_group(lpf_pid_t size) : size_(size), innermost_(size, nullptr) {}

  /// Runs thread `pid`'s part of a section. Returns LPF_ERR_FATAL on all threads if one fails or
  /// has left the group.
  lpf_err_t hook(lpf_pid_t pid, lpf_spmd_t spmd, const lpf_args_t& args) noexcept;
  /// Called when a thread leaves. No further sections are possible, and waiting threads get an
  /// error.
  void leave() noexcept;

 private:
  struct section;
  std::shared_ptr<section> join(lpf_pid_t pid);

  lpf_pid_t size_;
  std::vector<context*> innermost_;  // of the sections that each thread is in
  std::mutex lock_;
  std::condition_variable changed_;
  std::shared_ptr<section> forming_;  // some threads have not arrived yet
  bool left_ = false;
};

}  // namespace tutti::lpf

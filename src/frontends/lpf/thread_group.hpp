// SPDX-License-Identifier: Apache-2.0
//
// Threads that the program made and that formed a group in lpf_pthread_initialize(), or one thread
// that calls lpf_exec(). Each of their sections is a separate job on the threads engine. So a
// failure ends with its section.
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
  /// `operation`: the call that runs the sections, for reports; a literal.
  explicit thread_group(lpf_pid_t size, const char* operation = "lpf_hook")
      : size_(size), operation_(operation), innermost_(size, nullptr) {}

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
  const char* operation_;
  std::vector<context*> innermost_;  // the innermost running section of each thread
  std::mutex lock_;
  std::condition_variable changed_;
  std::shared_ptr<section> forming_;  // null unless some threads have arrived and others have not
  bool member_left_ = false;
};

}  // namespace tutti::lpf

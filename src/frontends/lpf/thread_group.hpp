// SPDX-License-Identifier: Apache-2.0
//
// Threads that the program has made, and that came together in lpf_pthread_initialize(): each section of
// theirs is a job of its own on the threads engine, so what fails in one is over with it.
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

  /// Thread `pid`'s part of a section. Returns LPF_ERR_FATAL to all where one fails, or has left the group.
  lpf_err_t hook(lpf_pid_t pid, lpf_spmd_t spmd, const lpf_args_t& args) noexcept;
  /// A thread leaves: there are no sections any more, and those who wait for one learn it.
  void leave() noexcept;

 private:
  struct section;
  std::shared_ptr<section> join(lpf_pid_t pid);

  lpf_pid_t size_;
  std::vector<context*> innermost_;  // of the sections that each thread is in
  std::mutex lock_;
  std::condition_variable changed_;
  std::shared_ptr<section> forming_;  // for which threads are missing yet
  bool left_ = false;
};

}  // namespace tutti::lpf

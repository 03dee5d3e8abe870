// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/thread_group.hpp"

#include <cstdio>
#include <optional>

#include "base/report_text.hpp"
#include "engines/threads/thread_job.hpp"
#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/section.hpp"
#include "runtime/launch/rank_startup.hpp"
#include "tutti/communicator.hpp"

namespace tutti::lpf {

using namespace tutti::detail;

struct thread_group::section {
  explicit section(const char* call) : operation(call) {}

  const char* operation;
  lpf_pid_t present = 0;
  bool begun = false;
  lpf_err_t code = LPF_SUCCESS;  // the error of make()
  std::unique_ptr<rank_startup> startup;
  std::unique_ptr<thread_job> job;

  void make(lpf_pid_t size) noexcept {
    try {
      startup = std::make_unique<rank_startup>();
      job = std::make_unique<thread_job>(static_cast<int>(size));
    } catch (...) {
      code = report_exception(operation);
    }
    begun = true;
  }
  // Runs on the last thread that leaves.
  ~section() {
    if (!job) return;
    const outcome end = job->result();
    if (end.failed_rank >= 0)
      std::fprintf(stderr, "tutti: %s: process %d failed: %s\n", operation, end.failed_rank,
                   std::string(without_prefix(end.text)).c_str());
  }
};

// Returns the section when all threads have arrived. Returns null if a thread has left the group.
std::shared_ptr<thread_group::section> thread_group::join(lpf_pid_t pid) {
  std::unique_lock guard(lock_);
  if (!forming_ && !member_left_) forming_ = std::make_shared<section>(operation_);
  const std::shared_ptr<section> joined = forming_;
  if (joined && ++joined->present == size_) {
    forming_ = nullptr;
    joined->make(size_);
    changed_.notify_all();
  }
  changed_.wait(guard, [&] { return member_left_ || joined->begun; });
  if (joined && joined->begun) return joined;
  report_error(operation_, static_cast<int>(pid), "init",
               "one of its threads has called lpf_pthread_finalize()",
               "finalize it after all threads have ended their sections");
  return nullptr;
}

lpf_err_t thread_group::hook(lpf_pid_t pid, lpf_spmd_t spmd, const lpf_args_t& args) noexcept {
  context*& innermost = innermost_[pid];
  std::optional<nested_section> within;
  try {
    within.emplace(innermost, "hook");
  } catch (...) {
    return code_of_exception(*innermost, operation_);
  }
  try {
    const std::shared_ptr<section> joined = join(pid);
    if (!joined) return LPF_ERR_FATAL;
    if (joined->code != LPF_SUCCESS) return joined->code;
    lpf_err_t code = LPF_ERR_FATAL;  // for a rank that throws
    const auto program = [&](communicator& world) {
      code = run_section(world, spmd, args, {size_, 1}, operation_, &innermost);
    };
    joined->job->run_rank(static_cast<int>(pid),
                          [&](endpoint& ep) { joined->startup->run_rank(ep, program); });
    return joined->job->failed() ? LPF_ERR_FATAL : code;
  } catch (...) {
    return report_exception(operation_);
  }
}

void thread_group::leave() noexcept {
  const std::lock_guard guard(lock_);
  member_left_ = true;
  forming_ = nullptr;
  changed_.notify_all();
}

}  // namespace tutti::lpf

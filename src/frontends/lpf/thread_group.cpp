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
namespace {

constexpr const char* here = "lpf_hook";

}  // namespace

struct thread_group::section {
  lpf_pid_t present = 0;
  bool begun = false;
  lpf_err_t code = LPF_SUCCESS;  // the error of make()
  std::unique_ptr<rank_startup> beginning;
  std::unique_ptr<thread_job> job;

  void make(lpf_pid_t size) noexcept {
    try {
      beginning = std::make_unique<rank_startup>();
      job = std::make_unique<thread_job>(static_cast<int>(size));
    } catch (...) {
      code = report_exception(here);
    }
    begun = true;
  }
  // Runs on the last thread that leaves.
  ~section() {
    if (!job) return;
    const outcome end = job->result();
    if (end.failed_rank >= 0)
      std::fprintf(stderr, "tutti: %s: process %d failed: %s\n", here, end.failed_rank,
                   std::string(without_prefix(end.text)).c_str());
  }
};

// Returns when all threads have arrived, or null if one never will.
std::shared_ptr<thread_group::section> thread_group::join(lpf_pid_t pid) {
  std::unique_lock guard(lock_);
  if (!forming_ && !left_) forming_ = std::make_shared<section>();
  const std::shared_ptr<section> own = forming_;
  if (own && ++own->present == size_) {
    forming_ = nullptr;
    own->make(size_);
    changed_.notify_all();
  }
  changed_.wait(guard, [&] { return left_ || own->begun; });
  if (own && own->begun) return own;
  report_error(here, static_cast<int>(pid), "init", "one of its threads has called lpf_pthread_finalize()",
               "finalize it after all threads have ended their sections");
  return nullptr;
}

lpf_err_t thread_group::hook(lpf_pid_t pid, lpf_spmd_t spmd, const lpf_args_t& args) noexcept {
  context*& innermost = innermost_[pid];
  std::optional<nested_section> within;
  try {
    within.emplace(innermost, "hook");
  } catch (...) {
    return code_of_exception(*innermost, here);
  }
  try {
    const std::shared_ptr<section> own = join(pid);
    if (!own) return LPF_ERR_FATAL;
    if (own->code != LPF_SUCCESS) return own->code;
    lpf_err_t code = LPF_ERR_FATAL;  // for a rank that throws
    const auto program = [&](communicator& world) {
      code = run_section(world, spmd, args, {size_, 1}, here, &innermost);
    };
    own->job->run_rank(static_cast<int>(pid), [&](endpoint& ep) { own->beginning->run_rank(ep, program); });
    return own->job->failed() ? LPF_ERR_FATAL : code;
  } catch (...) {
    return report_exception(here);
  }
}

void thread_group::leave() noexcept {
  const std::lock_guard guard(lock_);
  left_ = true;
  forming_ = nullptr;
  changed_.notify_all();
}

}  // namespace tutti::lpf

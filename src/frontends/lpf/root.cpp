// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/root.hpp"

#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#include "engines/threads/thread_job.hpp"
#include "frontends/lpf/constants.hpp"
#include "frontends/lpf/coroutine.hpp"
#include "frontends/lpf/report_error.hpp"
#include "runtime/launch/rank_startup.hpp"
#include "tutti/communicator.hpp"

namespace tutti::lpf {

using namespace tutti::detail;

namespace {

// A job of one thread. A run ends when its program returns. So it is started on a separate stack
// and lasts until the process ends. It is never destroyed, because exit() may be called anywhere.
class root_job {
 public:
  root_job() : job_(1) {
    run_.start([this] {
      job_.run_rank(0, [this](endpoint& ep) {
        const auto program = [this](communicator& world) {
          world_ = &world;
          run_.pause();
        };
        startup_.run_rank(ep, program, true);
      });
    });
    if (world_ == nullptr) {
      const outcome end = job_.result();
      if (end.what) std::rethrow_exception(end.what);
      throw std::runtime_error(end.text);
    }
  }
  communicator& world() const noexcept { return *world_; }

 private:
  rank_startup startup_;
  thread_job job_;
  coroutine run_;
  communicator* world_ = nullptr;
};

struct root_state {
  std::mutex lock;
  root_job* job = nullptr;
  std::thread::id owner;
};

root_state& state_of_process() {
  static auto* const state = new root_state;
  return *state;
}

}  // namespace

context* root_context(const char* operation) noexcept {
  try {
    if (running_section_count() > 0) {
      report_error(operation, -1, "ctx", "is LPF_ROOT, but this process runs a section",
                   "pass the context that the function of the section received");
      return nullptr;
    }
    root_state& r = state_of_process();
    const std::lock_guard guard(r.lock);
    if (r.job == nullptr) {
      auto made = std::make_unique<root_job>();
      context_of_root.world = &made->world();
      context_of_root.process = bsp::abi::open(detail::impl_of(made->world()), false);
      r.owner = std::this_thread::get_id();
      r.job = made.release();
    }
    if (r.owner == std::this_thread::get_id()) return &context_of_root;
    report_error(operation, -1, "ctx", "is LPF_ROOT, which another thread has used",
                 "use it from one thread");
  } catch (...) {
    report_exception(operation);
  }
  return nullptr;
}

}  // namespace tutti::lpf

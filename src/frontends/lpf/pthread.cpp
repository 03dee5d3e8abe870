// SPDX-License-Identifier: Apache-2.0
//
// Implements lpf_pthread_initialize(): threads that know only their number and the number of
// threads form a group.
#include "lpf/pthread.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>

#include "engines/engine_table.hpp"
#include "frontends/lpf/init.hpp"
#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/thread_group.hpp"

namespace tutti::lpf {

using namespace tutti::detail;

namespace {

constexpr const char* operation_name = "lpf_pthread_initialize";

class hooked_thread final : public init_object {
 public:
  hooked_thread(std::shared_ptr<thread_group> group, lpf_pid_t pid) : group_(std::move(group)), pid_(pid) {}
  ~hooked_thread() override { group_->leave(); }
  lpf_err_t hook(lpf_spmd_t spmd, const lpf_args_t& args) noexcept override {
    return group_->hook(pid_, spmd, args);
  }
  const char* finalize_function() const noexcept override { return "lpf_pthread_finalize"; }

 private:
  std::shared_ptr<thread_group> group_;
  lpf_pid_t pid_;
};

// A group of threads that is forming. A process has at most one. A thread with another `nprocs`
// counts as a member, because otherwise both groups would wait for ever. If the threads disagree,
// all fail as soon as the smallest `nprocs` of them have arrived. Later threads, up to the largest
// `nprocs`, fail at once.
struct forming_group {
  lpf_pid_t size = 0, min_nprocs = 0, arrived = 0;  // size: the largest nprocs
  std::set<lpf_pid_t> pids;
  bool finished = false;
  lpf_err_t code = LPF_SUCCESS;
  std::string problem;
  std::shared_ptr<thread_group> group;

  void add(lpf_pid_t pid, lpf_pid_t nprocs, bool has_init) {
    const lpf_pid_t previous_size = size;
    size = std::max(size, nprocs);
    min_nprocs = min_nprocs == 0 ? nprocs : std::min(min_nprocs, nprocs);
    finished = ++arrived == size;
    try {
      const bool is_new = pids.insert(pid).second;
      if (!has_init)
        reject("argument init: is null in one of the threads");
      else if (previous_size != 0 && nprocs != previous_size)
        reject("argument nprocs: threads passed " + std::to_string(previous_size) + " and " +
               std::to_string(nprocs));
      else if (pid >= nprocs)
        reject("argument pid: is " + std::to_string(pid) + ", but nprocs is " + std::to_string(nprocs));
      else if (!is_new)
        reject("argument pid: two threads passed " + std::to_string(pid));
      finished = finished || (code != LPF_SUCCESS && arrived >= min_nprocs);
      if (finished && code == LPF_SUCCESS) group = std::make_shared<thread_group>(size);
    } catch (const std::bad_alloc&) {
      code = LPF_ERR_OUT_OF_MEMORY;
    }
  }
  /// Whether a thread that arrives after the group has failed belongs to the group.
  bool expects(lpf_pid_t pid, lpf_pid_t nprocs) const { return nprocs == size && !pids.contains(pid); }
  void reject(const std::string& reason) {
    if (code == LPF_SUCCESS) problem = reason;
    code = LPF_ERR_FATAL;
  }
};

// The threads share no object, so the state of the forming group is global.
struct rendezvous_state {
  std::mutex lock;
  std::condition_variable changed;
  std::shared_ptr<forming_group> current;
};

rendezvous_state& state_of_process() {
  static rendezvous_state state;
  return state;
}

// Returns when all threads have arrived, or when the group has failed.
std::shared_ptr<forming_group> join_group(lpf_pid_t pid, lpf_pid_t nprocs, bool has_init) {
  rendezvous_state& state = state_of_process();
  std::unique_lock guard(state.lock);
  if (!state.current || (state.current->finished && !state.current->expects(pid, nprocs)))
    state.current = std::make_shared<forming_group>();
  const std::shared_ptr<forming_group> joined = state.current;
  joined->add(pid, nprocs, has_init);
  if (joined->arrived == joined->size) state.current = nullptr;
  if (joined->finished) state.changed.notify_all();
  state.changed.wait(guard, [&] { return joined->finished; });
  return joined;
}

lpf_err_t initialize(lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t* init) {
  const auto max_threads = static_cast<lpf_pid_t>(find_engine("threads")->max_ranks);
  if (nprocs == 0 || nprocs > max_threads) {
    report_error(operation_name, static_cast<int>(pid), "nprocs", "is " + std::to_string(nprocs),
                 "pass the number of threads, 1 to 4096");
    return LPF_ERR_FATAL;
  }
  if (init != nullptr) *init = LPF_INIT_NONE;
  const std::shared_ptr<forming_group> joined = join_group(pid, nprocs, init != nullptr);
  if (joined->code != LPF_SUCCESS) {
    report_error(operation_name, static_cast<int>(pid), "",
                 joined->problem.empty() ? "out of memory" : joined->problem,
                 "call it once in each thread, with the same nprocs and a different pid of 0 .. nprocs - 1");
    return joined->code;
  }
  *init = new hooked_thread(joined->group, pid);
  return LPF_SUCCESS;
}

}  // namespace
}  // namespace tutti::lpf

using namespace tutti::lpf;

extern "C" lpf_err_t lpf_pthread_initialize(lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t* init) {
  try {
    return initialize(pid, nprocs, init);
  } catch (...) {
    return report_exception(operation_name);
  }
}

extern "C" lpf_err_t lpf_pthread_finalize(lpf_init_t init) { return end_init(init, "lpf_pthread_finalize"); }

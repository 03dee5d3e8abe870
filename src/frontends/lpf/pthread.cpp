// SPDX-License-Identifier: Apache-2.0
//
// Implements lpf_pthread_initialize(): threads that know only their number and the number of
// threads find one another.
#include "lpf/pthread.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <string>

#include "engines/engine.hpp"
#include "frontends/lpf/init.hpp"
#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/thread_group.hpp"

namespace tutti::lpf {
namespace {

constexpr const char* here = "lpf_pthread_initialize";

class hooked_thread final : public init_object {
 public:
  hooked_thread(std::shared_ptr<thread_group> all, lpf_pid_t pid) : all_(std::move(all)), pid_(pid) {}
  ~hooked_thread() override { all_->leave(); }
  lpf_err_t hook(lpf_spmd_t spmd, const lpf_args_t& args) noexcept override {
    return all_->hook(pid_, spmd, args);
  }
  const char* ended_by() const noexcept override { return "lpf_pthread_finalize"; }

 private:
  std::shared_ptr<thread_group> all_;
  lpf_pid_t pid_;
};

// A group of threads that is forming. There is one at a time in a process. A thread with another
// `nprocs` counts as a member, because otherwise both groups would wait for ever. If the threads
// disagree, all fail as soon as the smallest `nprocs` of them have arrived. Later threads, up to
// the largest `nprocs`, fail at once.
struct thread_gathering {
  lpf_pid_t size = 0, least = 0, come = 0;
  std::set<lpf_pid_t> pids;
  bool over = false;
  lpf_err_t code = LPF_SUCCESS;
  std::string problem;
  std::shared_ptr<thread_group> all;

  void add(lpf_pid_t pid, lpf_pid_t nprocs, bool place_for_result) {
    const lpf_pid_t before = size;
    bool another = false;
    size = std::max(size, nprocs);
    least = least == 0 ? nprocs : std::min(least, nprocs);
    over = ++come == size;
    try {
      another = pids.insert(pid).second;
      if (!place_for_result)
        refuse("argument init: is null in one of the threads");
      else if (before != 0 && nprocs != before)
        refuse("argument nprocs: threads passed " + std::to_string(before) + " and " +
               std::to_string(nprocs));
      else if (pid >= nprocs)
        refuse("argument pid: is " + std::to_string(pid) + ", but nprocs is " + std::to_string(nprocs));
      else if (!another)
        refuse("argument pid: two threads passed " + std::to_string(pid));
      over = over || (code != LPF_SUCCESS && come >= least);
      if (over && code == LPF_SUCCESS) all = std::make_shared<thread_group>(size);
    } catch (const std::bad_alloc&) {
      code = LPF_ERR_OUT_OF_MEMORY;
    }
  }
  /// For a group that ended incomplete: whether such a thread still belongs to it.
  bool misses(lpf_pid_t pid, lpf_pid_t nprocs) const { return nprocs == size && !pids.contains(pid); }
  void refuse(const std::string& why) {
    if (code == LPF_SUCCESS) problem = why;
    code = LPF_ERR_FATAL;
  }
};

// The threads have no common object, so their meeting place is global.
struct meeting_place {
  std::mutex lock;
  std::condition_variable changed;
  std::shared_ptr<thread_gathering> now;
};

meeting_place& place_of_process() {
  static meeting_place one;
  return one;
}

// Returns when all threads have arrived, or when the group has failed.
std::shared_ptr<thread_gathering> meet(lpf_pid_t pid, lpf_pid_t nprocs, bool place_for_result) {
  meeting_place& place = place_of_process();
  std::unique_lock guard(place.lock);
  if (!place.now || (place.now->over && !place.now->misses(pid, nprocs)))
    place.now = std::make_shared<thread_gathering>();
  const std::shared_ptr<thread_gathering> own = place.now;
  own->add(pid, nprocs, place_for_result);
  if (own->come == own->size) place.now = nullptr;
  if (own->over) place.changed.notify_all();
  place.changed.wait(guard, [&] { return own->over; });
  return own;
}

lpf_err_t initialize(lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t* init) {
  const auto most = static_cast<lpf_pid_t>(find_engine("threads")->max_ranks);
  if (nprocs == 0 || nprocs > most) {
    report_error(here, static_cast<int>(pid), "nprocs", "is " + std::to_string(nprocs),
                 "pass the number of threads, 1 to 4096");
    return LPF_ERR_FATAL;
  }
  if (init != nullptr) *init = LPF_INIT_NONE;
  const std::shared_ptr<thread_gathering> all = meet(pid, nprocs, init != nullptr);
  if (all->code != LPF_SUCCESS) {
    report_error(here, static_cast<int>(pid), "", all->problem.empty() ? "out of memory" : all->problem,
                 "call it once in each thread, with the same nprocs and a different pid of 0 .. nprocs - 1");
    return all->code;
  }
  *init = new hooked_thread(all->all, pid);
  return LPF_SUCCESS;
}

}  // namespace
}  // namespace tutti::lpf

using namespace tutti::lpf;

extern "C" lpf_err_t lpf_pthread_initialize(lpf_pid_t pid, lpf_pid_t nprocs, lpf_init_t* init) {
  try {
    return initialize(pid, nprocs, init);
  } catch (...) {
    return report_exception(here);
  }
}

extern "C" lpf_err_t lpf_pthread_finalize(lpf_init_t init) { return end_init(init, "lpf_pthread_finalize"); }

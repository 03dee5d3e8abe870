// SPDX-License-Identifier: Apache-2.0
//
// Workers of oneTBB for one rank's tasks: the module libtutti-workers.so.
#include <atomic>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "frontends/tasks/worker_pool.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::tasks {
namespace {

class tbb_worker_pool final : public worker_pool {
 public:
  // One slot of the arena is reserved for the rank's own thread, which never enters it. Without the
  // limit, a process that an MPI launcher has bound to a core would have no workers.
  explicit tbb_worker_pool(int workers)
      : parallelism_limit_(tbb::global_control::max_allowed_parallelism, 256), arena_(workers, 1) {}
  void enqueue(void (*job)(void*), void* state) override {
    handed_over_.fetch_add(1, std::memory_order_release);
    arena_.enqueue([this, job, state] {
      static_cast<void>(handed_over_.load(std::memory_order_acquire));
      job(state);
    });
  }

 private:
  // oneTBB orders enqueue() before the job. The thread sanitizer does not see that, but sees this.
  std::atomic<unsigned> handed_over_{0};
  tbb::global_control parallelism_limit_;
  tbb::task_arena arena_;
};

worker_pool* make(int workers) { return new tbb_worker_pool(workers); }

}  // namespace
}  // namespace tutti::tasks

extern "C" TUTTI_API const tutti::tasks::workers_module tutti_workers_module;
const tutti::tasks::workers_module tutti_workers_module = {tutti::tasks::workers_abi, tutti::tasks::make};

// SPDX-License-Identifier: Apache-2.0
//
// Workers of oneTBB for one rank's tasks: the module libtutti-workers.so.
#include <atomic>

#include <tbb/global_control.h>
#include <tbb/task_arena.h>

#include "frontends/tasks/worker_pool.hpp"

namespace tutti::tasks {
namespace {

class tbb_worker_pool final : public worker_pool {
 public:
  // A place of the arena is the rank's own thread, which never comes in. A process that an MPI launcher has
  // bound to a core would have no workers else.
  explicit tbb_worker_pool(int workers)
      : enough_(tbb::global_control::max_allowed_parallelism, 256), arena_(workers, 1) {}
  void call(void (*job)(void*), void* state) override {
    handed_over_.fetch_add(1, std::memory_order_release);
    arena_.enqueue([this, job, state] {
      static_cast<void>(handed_over_.load(std::memory_order_acquire));
      job(state);
    });
  }

 private:
  std::atomic<unsigned> handed_over_{
      0};  // the order that oneTBB makes anyway, for a thread sanitizer, which does not see it
  tbb::global_control enough_;
  tbb::task_arena arena_;
};

worker_pool* make(int workers) { return new tbb_worker_pool(workers); }

}  // namespace
}  // namespace tutti::tasks

extern "C" __attribute__((visibility("default"))) const tutti::tasks::workers_module tutti_workers_module;
const tutti::tasks::workers_module tutti_workers_module = {tutti::tasks::workers_abi, tutti::tasks::make};

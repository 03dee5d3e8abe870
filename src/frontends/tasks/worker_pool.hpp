// SPDX-License-Identifier: Apache-2.0
//
// The workers besides the rank's own thread: those of oneTBB, in an arena for each rank. A module
// implements them (src/frontends/tasks/tbb). A runtime that needs several workers loads it. So
// tutti does not depend on oneTBB, and a program may be static. ready_queue calls the workers.
#pragma once

#include <cstdint>
#include <memory>

namespace tutti::tasks {

class worker_pool {
 public:
  virtual ~worker_pool() = default;
  /// Lets one more worker call `job`, which returns when there is nothing to do. Any thread may
  /// call.
  virtual void enqueue(void (*job)(void*), void* state) = 0;
};

/// The module exports it as `tutti_workers_module`.
struct workers_module {
  std::uint32_t abi;
  worker_pool* (*make)(int workers);
};
inline constexpr std::uint32_t workers_abi = 1;

/// Throws engine_error if the module cannot be loaded. `header`: the same as for find_modules().
std::unique_ptr<worker_pool> make_worker_pool(int workers, int rank, const char* header);

}  // namespace tutti::tasks

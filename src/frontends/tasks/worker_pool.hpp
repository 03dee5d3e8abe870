// SPDX-License-Identifier: Apache-2.0
//
// Workers beside the rank's own thread: oneTBB's, in an arena for each rank. They stand in a module of their
// own (src/frontends/tasks/tbb), which is loaded when a runtime wants more than one, so that tutti does not
// depend on oneTBB and a program may be static.
#pragma once

#include <cstdint>
#include <memory>

namespace tutti::tasks {

class worker_pool {
 public:
  virtual ~worker_pool() = default;
  /// One more worker calls `job`, which returns when there is nothing to do. Of any thread.
  virtual void call(void (*job)(void*), void* state) = 0;
};

/// What the module exports as `tutti_workers_module`.
struct workers_module {
  std::uint32_t abi;
  worker_pool* (*make)(int workers);
};
inline constexpr std::uint32_t workers_abi = 1;

/// Throws engine_error where there is no such module. `header`: as for find_modules().
std::unique_ptr<worker_pool> make_worker_pool(int workers, int rank, const char* header);

}  // namespace tutti::tasks

// SPDX-License-Identifier: Apache-2.0
//
// Names the rank that runs on the calling thread. Only that thread may use the rank's objects, so
// each call compares `current_rank` with the owner of the object.
//
// The variable is thread_local, because on threads and mpi a rank is a thread or a process. A
// worker of the fibers engine changes it at every switch of fibers. A fiber never leaves its
// worker, so a compiler may keep the variable's address across a switch.
//
// The TLS model initial-exec makes an access one load, without a call of __tls_get_addr(). The
// price: if dlopen() loads the library, the variables occupy the small static TLS reserve of libc.
#pragma once

#include <utility>

#include "tutti/detail/export.hpp"

namespace tutti::shm {

/// Identifies a rank. Ranks are compared by the address of this object.
struct rank_identity {
  int rank = -1;  ///< in the job; -1: no rank, or its number is not known
};

/// Null: no rank runs on this thread. Exported, because puts and gets of LPF compare it inline.
[[gnu::tls_model("initial-exec")]] TUTTI_API extern constinit thread_local const rank_identity* current_rank;

/// The identity of a thread that runs a kernel of a task. Kernels may use no communicator.
extern const rank_identity kernel_identity;
/// The value of current_rank outside the kernel that the thread runs. A kernel never switches to
/// another fiber, so a switch of fibers need not save this variable.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const rank_identity* rank_outside_kernel;
/// The rank that runs on the calling thread, or whose kernel it runs; -1: none, or not known.
inline int rank_of_thread() noexcept {
  const rank_identity* const one = current_rank == &kernel_identity ? rank_outside_kernel : current_rank;
  return one == nullptr ? -1 : one->rank;
}

/// Owners of objects that no thread may use: of a moved-from communicator, and after the run.
extern const rank_identity no_rank, ended_run_identity;
/// Stored as the owner of a rank's objects if the rank has received rejections. It forces the
/// rank's calls onto the slow path, which reports the rejections (transport/rejection.hpp).
extern const rank_identity rejecting_identity;

/// For programs that start MPI themselves. If no rank runs on the calling thread, the rank of this
/// process runs on it from now on. Returns current_rank.
const rank_identity* adopt_process_rank() noexcept;

/// That rank runs on the calling thread, or fiber, during the lifetime of this object.
class scoped_current_rank {
 public:
  explicit scoped_current_rank(const rank_identity& one) noexcept : saved_rank_(current_rank) {
    current_rank = &one;
  }
  ~scoped_current_rank() { current_rank = saved_rank_; }
  scoped_current_rank(const scoped_current_rank&) = delete;
  scoped_current_rank& operator=(const scoped_current_rank&) = delete;

 private:
  const rank_identity* saved_rank_;
};

/// The calling thread runs a kernel during the lifetime of this object.
class scoped_kernel {
 public:
  scoped_kernel() noexcept
      : saved_outer_rank_(std::exchange(rank_outside_kernel, current_rank)), kernel_(kernel_identity) {}
  ~scoped_kernel() { rank_outside_kernel = saved_outer_rank_; }
  scoped_kernel(const scoped_kernel&) = delete;
  scoped_kernel& operator=(const scoped_kernel&) = delete;

 private:
  const rank_identity* saved_outer_rank_;
  scoped_current_rank kernel_;
};

}  // namespace tutti::shm

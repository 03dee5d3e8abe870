// SPDX-License-Identifier: Apache-2.0
//
// Names the rank that the calling thread carries. Only the thread that carries a rank may use its
// objects, and each call compares this word.
//
// The variable is thread_local, because on threads and mpi a rank is a thread or a process. A
// worker of the fibers engine changes it at every switch of fibers. A fiber never leaves its
// worker, so a compiler may keep the variable's address across a switch.
#pragma once

#include <utility>

namespace tutti::shm {

/// Identifies the rank that a thread carries. Ranks are compared by the address of this object.
struct rank_identity {
  int rank = -1;  ///< in the job; -1: no rank
};

/// Null: this thread carries no rank.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const rank_identity* current_rank;

/// The identity of a thread that runs a kernel of a task. Kernels may use no communicator.
extern const rank_identity in_kernel;
/// The rank that the thread carries outside the kernel that it runs. A kernel never switches to
/// another fiber, so a switch of fibers need not save this variable.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const rank_identity* rank_below_kernel;
/// The rank that the calling thread carries, or whose kernel it runs; -1: none, or unknown.
inline int rank_of_thread() noexcept {
  const rank_identity* const one = current_rank == &in_kernel ? rank_below_kernel : current_rank;
  return one == nullptr ? -1 : one->rank;
}

/// Identities that no thread carries: of a moved-from communicator, and of a run that has ended.
extern const rank_identity no_rank, ended;

/// For programs that start MPI themselves. If the calling thread carries no rank, it carries the
/// rank of this process from now on. Returns the rank that it carries.
const rank_identity* set_current_process() noexcept;

/// The calling thread, or fiber, carries that rank during the lifetime of this object.
class scoped_current_rank {
 public:
  explicit scoped_current_rank(const rank_identity& one) noexcept : before_(current_rank) {
    current_rank = &one;
  }
  ~scoped_current_rank() { current_rank = before_; }
  scoped_current_rank(const scoped_current_rank&) = delete;
  scoped_current_rank& operator=(const scoped_current_rank&) = delete;

 private:
  const rank_identity* before_;
};

/// The calling thread runs a kernel during the lifetime of this object.
class scoped_kernel {
 public:
  scoped_kernel() noexcept
      : beneath_before_(std::exchange(rank_below_kernel, current_rank)), kernel_(in_kernel) {}
  ~scoped_kernel() { rank_below_kernel = beneath_before_; }
  scoped_kernel(const scoped_kernel&) = delete;
  scoped_kernel& operator=(const scoped_kernel&) = delete;

 private:
  const rank_identity* beneath_before_;
  scoped_current_rank kernel_;
};

}  // namespace tutti::shm

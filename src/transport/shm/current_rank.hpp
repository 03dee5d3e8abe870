// SPDX-License-Identifier: Apache-2.0
//
// Which rank the calling thread carries at this moment. What belongs to a rank may be used by the
// thread that carries it and by no other; each call compares this one word.
//
// The variable is per thread, as a rank that is a thread or a process is; a worker of the fibers
// engine changes it whenever it goes on with another fiber. A fiber never leaves its worker, so a
// compiler may keep the variable's address across a switch.
#pragma once

#include <utility>

namespace tutti::shm {

/// What a thread says of the rank that it carries. Ranks are told apart by the address.
struct rank_identity {
  int rank = -1;  ///< in the job; -1: of none
};

/// Null: this thread carries no rank.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const rank_identity* current_rank;

/// Of a thread that runs a kernel of a task: whatever it carries else, kernels use no communicator.
extern const rank_identity in_kernel;
/// What the thread carries beneath the kernel that it runs. No kernel goes on to another fiber, so a switch
/// leaves this as it is.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const rank_identity* rank_below_kernel;
/// The number of the rank that the calling thread carries, or whose kernel it runs; -1: none, or not known.
inline int rank_of_thread() noexcept {
  const rank_identity* const one = current_rank == &in_kernel ? rank_below_kernel : current_rank;
  return one == nullptr ? -1 : one->rank;
}

/// What no thread carries: the rank of what is moved from, and that of a run that has ended.
extern const rank_identity no_rank, ended;

/// For programs that start MPI themselves: the calling thread carries this process's rank from here
/// on, if it carries none yet. What it carries then.
const rank_identity* set_current_process() noexcept;

/// The calling thread, or fiber, carries that rank while this exists.
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

/// The calling thread runs a kernel while this exists.
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

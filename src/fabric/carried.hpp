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

namespace tutti::fabric {

/// What a thread says of the rank that it carries. Ranks are told apart by the address.
struct carried_rank {
  int rank = -1;  ///< in the job; -1: of none
};

/// Null: this thread carries no rank.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const carried_rank* carried;

/// Of a thread that runs a kernel of a task: whatever it carries else, kernels use no communicator.
extern const carried_rank in_kernel;
/// What the thread carries beneath the kernel that it runs. No kernel goes on to another fiber, so a switch
/// leaves this as it is.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const carried_rank* beneath_kernel;
/// The number of the rank that the calling thread carries, or whose kernel it runs; -1: none, or not known.
inline int rank_here() noexcept {
  const carried_rank* const one = carried == &in_kernel ? beneath_kernel : carried;
  return one == nullptr ? -1 : one->rank;
}

/// What no thread carries: the rank of what is moved from, and that of a run that has ended.
extern const carried_rank nobodys, ended;

/// For programs that start MPI themselves: the calling thread carries this process's rank from here
/// on, if it carries none yet. What it carries then.
const carried_rank* carry_process() noexcept;

/// The calling thread, or fiber, carries that rank while this exists.
class carries {
 public:
  explicit carries(const carried_rank& one) noexcept : before_(carried) { carried = &one; }
  ~carries() { carried = before_; }
  carries(const carries&) = delete;
  carries& operator=(const carries&) = delete;

 private:
  const carried_rank* before_;
};

/// The calling thread runs a kernel while this exists.
class runs_kernel {
 public:
  runs_kernel() noexcept : beneath_before_(std::exchange(beneath_kernel, carried)), kernel_(in_kernel) {}
  ~runs_kernel() { beneath_kernel = beneath_before_; }
  runs_kernel(const runs_kernel&) = delete;
  runs_kernel& operator=(const runs_kernel&) = delete;

 private:
  const carried_rank* beneath_before_;
  carries kernel_;
};

}  // namespace tutti::fabric

// SPDX-License-Identifier: Apache-2.0
//
// Which rank the calling thread carries at this moment. What belongs to a rank may be used by the
// thread that carries it and by no other; each call compares this one word.
//
// The variable is per thread, as a rank that is a thread or a process is; a worker of the fibers
// engine changes it whenever it goes on with another fiber. A fiber never leaves its worker, so a
// compiler may keep the variable's address across a switch.
#pragma once

namespace tutti::fabric {

/// What a thread says of the rank that it carries. Ranks are told apart by the address.
struct carried_rank {
  int rank = -1;  ///< in the job; -1: of none
};

/// Null: this thread carries no rank.
[[gnu::tls_model("initial-exec")]] extern constinit thread_local const carried_rank* carried;

/// Of a thread that runs a kernel of a task: whatever it carries else, kernels use no communicator.
extern const carried_rank in_kernel;
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

}  // namespace tutti::fabric

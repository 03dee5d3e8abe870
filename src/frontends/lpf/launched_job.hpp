// SPDX-License-Identifier: Apache-2.0
//
// The processes that an MPI launcher started together: the first goes on to main(), the others wait for its
// lpf_exec() and never come there. Their communicator lives as long as the process: tutti::run() is begun
// before main(), on a stack of its own, and ends when the process does.
//
// exit() is such an end too, from wherever it is called: the first process sends the others home; within a
// section the job fails, since the others would wait for ever.
#pragma once

#include <exception>
#include <functional>
#include <vector>

#include "frontends/lpf/coroutine.hpp"
#include "frontends/lpf/job_command.hpp"
#include "lpf/core.h"

namespace tutti {
class communicator;
}

namespace tutti::lpf {

class launched_job {
 public:
  /// Whether the processes of this one's job are to wait: a launcher, or TUTTI_ENGINE, says that they are
  /// MPI's, and the program has not set LPF_MPI_AUTO_INITIALIZE to 0.
  static bool is_wanted() noexcept;
  /// Joins the job. Called before main(), once. In the first process it returns; the others come back when
  /// the first has sent them home, and are to end with the code that is returned. These call `before_waiting`
  /// first.
  static constexpr int go_on_to_main = -1;
  static int join(int argc, char** argv, const std::function<void()>& before_waiting);
  /// This process's; null where it is in none.
  static launched_job* mine() noexcept;

  lpf_pid_t processes() const noexcept { return processes_; }
  /// A section of the first p of them. For lpf_exec() in the first process.
  lpf_err_t exec(lpf_pid_t p, lpf_spmd_t spmd, const lpf_args_t& args);
  /// Ends all processes.
  void kill(const char* why);
  /// At exit().
  void end_of_process();

 private:
  int begin(int argc, char** argv, const std::function<void()>& before_waiting);
  void serve();
  std::vector<char> next_order();
  void give_out(const order& what, lpf_pid_t first, lpf_pid_t end);
  lpf_err_t take_part(const order& what, const lpf_args_t& own);
  lpf_err_t run_in(communicator& part, const order& what, const lpf_args_t& own);
  void end(std::exception_ptr why);

  coroutine run_;                  // tutti::run(), from join() to the end
  communicator* world_ = nullptr;  // null: the job is over
  std::exception_ptr failure_;     // what the program that run() knows of throws
  int code_ = 2;                   // of run()
  lpf_pid_t processes_ = 1;
  bool in_section_ = false;
};

}  // namespace tutti::lpf

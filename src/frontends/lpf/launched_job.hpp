// SPDX-License-Identifier: Apache-2.0
//
// The processes that an MPI launcher started together. The first one continues to main(). The
// others wait for its lpf_exec() and never reach main(). Their communicator exists until the
// process ends: tutti::run() begins before main(), on a separate stack, and ends with the process.
//
// exit() may end the process anywhere. Outside of sections the first process then releases the
// others. Within a section the job fails, because the others would wait for ever.
#pragma once

#include <exception>
#include <functional>
#include <vector>

#include "frontends/lpf/coroutine.hpp"
#include "frontends/lpf/section_command.hpp"
#include "lpf/core.h"
#include "tutti/detail/export.hpp"

namespace tutti {
class communicator;
}

namespace tutti::lpf {

class launched_job {
 public:
  /// Whether the processes of this job must wait before main(). They must if a launcher or
  /// TUTTI_ENGINE shows that they are MPI processes, and the program has not set
  /// LPF_MPI_AUTO_INITIALIZE to 0.
  static bool is_required() noexcept;
  /// Joins the job. Called once, before main(). In the first process it returns continue_to_main at
  /// once. In the others it first calls `before_waiting`, and returns when the first process has
  /// released them. They must exit with the returned code.
  static constexpr int continue_to_main = -1;
  static int join(int argc, char** argv, const std::function<void()>& before_waiting);
  /// The job of this process; null if there is none.
  TUTTI_API static launched_job* current() noexcept;

  /// The number of processes that exec() can use: one inside a section, which uses the others.
  lpf_pid_t free_processes() const noexcept { return in_section_ ? 1 : processes_; }
  /// Runs a section of the first p processes. Inside a section of this job any process may call it;
  /// it then runs a section of this process alone.
  lpf_err_t exec(lpf_pid_t p, lpf_spmd_t spmd, const lpf_args_t& args);
  /// Ends all processes.
  void kill(const char* reason);
  /// Called at exit().
  void on_exit();

 private:
  int begin(int argc, char** argv, const std::function<void()>& before_waiting);
  void run_commands();
  section_command receive_command();
  void send_command(const section_command& command, lpf_pid_t first, lpf_pid_t end);
  lpf_err_t run_command(const section_command& command, const lpf_args_t& args);
  lpf_err_t run_section_over(communicator& part, const section_command& command,
                             const lpf_args_t& local_args);
  void end(std::exception_ptr error);

  coroutine run_;                  // runs tutti::run() from join() to the end
  communicator* world_ = nullptr;  // null: the job is over
  std::exception_ptr failure_;     // the exception that the program of run() throws
  int code_ = 2;                   // the result of run()
  lpf_pid_t processes_ = 1;
  bool in_section_ = false;
};

}  // namespace tutti::lpf

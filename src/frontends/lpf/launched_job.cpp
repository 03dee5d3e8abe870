// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/launched_job.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include <time.h>
#include <unistd.h>

#include "base/environment_variables.hpp"
#include "communicator/internal_calls.hpp"
#include "engines/engine_table.hpp"
#include "frontends/lpf/exec.hpp"
#include "frontends/lpf/program_header.hpp"
#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/section.hpp"
#include "runtime/launch/modules.hpp"
#include "tutti/run.hpp"
#include "tutti/tutti.hpp"

extern "C" const int LPF_MPI_AUTO_INITIALIZE;

namespace tutti::lpf {

using namespace tutti::detail;

namespace {

constexpr const char* operation_name = "lpf_exec";
constexpr int command_tag = 0;

// The job of this process. LPF_ROOT cannot refer to it, so it is stored here. It is never
// destroyed, because exit() may be called anywhere.
launched_job* current_job = nullptr;

// Waiting processes may share a core with the first process, so they sleep.
void sleep_between_polls(int polls) {
  const timespec interval{0, polls < 100 ? 20'000 : polls < 1000 ? 200'000 : 1'000'000};
  nanosleep(&interval, nullptr);
}

template <class Function>
function_location location_of_any(Function* function) {
  return location_of(reinterpret_cast<void (*)()>(function));
}

section_command command_for(lpf_pid_t p, lpf_spmd_t spmd, const lpf_args_t& args) {
  section_command command;
  command.processes = p;
  command.spmd = location_of_any(spmd);
  for (std::size_t i = 0; i < args.f_size; ++i) command.symbols.push_back(location_of_any(args.f_symbols[i]));
  return command;
}

}  // namespace

launched_job* launched_job::current() noexcept { return current_job; }

bool launched_job::is_required() noexcept {
  try {
    if (LPF_MPI_AUTO_INITIALIZE == 0) return false;
    const std::string name = setting("TUTTI_ENGINE").value_or("");
    if (name.empty()) return find_launcher().mpi;
    const engine_entry* engine = find_engine(name);
    return engine != nullptr && !engine->embedded();
  } catch (...) {
    return false;  // lpf_exec() reports the error
  }
}

int launched_job::join(int argc, char** argv, const std::function<void()>& before_waiting) {
  try {
    current_job = new launched_job;
    return current_job->begin(argc, argv, before_waiting);
  } catch (...) {
    report_exception(operation_name);
    return 2;
  }
}

int launched_job::begin(int argc, char** argv, const std::function<void()>& before_waiting) {
  run_.start([this, argc, argv] {
    run_options options;
    options.header = header_of_program();
    options.argc = argc;
    options.argv = argv;
    options.engine = "mpi";
    const auto program = [this](communicator& world) {
      world_ = &world;
      run_.pause();
      world_ = nullptr;
      if (failure_) std::rethrow_exception(failure_);
    };
    code_ = tutti::run(options, program, std::nothrow);
  });
  if (world_ == nullptr) return code_ != 0 ? code_ : 2;  // run() has reported the reason
  processes_ = static_cast<lpf_pid_t>(world_->size());
  if (std::atexit([] { current_job->on_exit(); }) != 0) throw std::bad_alloc();
  if (world_->rank() == 0) return continue_to_main;
  std::exception_ptr error;
  try {
    before_waiting();
    run_commands();
  } catch (...) {
    error = std::current_exception();
  }
  end(error);
  return code_;
}

// Must not be called in a catch block. The exception being handled is state of the thread, not of
// the stack.
void launched_job::end(std::exception_ptr error) {
  failure_ = std::move(error);
  run_.resume();
  in_section_ = false;
}

void launched_job::kill(const char* reason) {
  if (world_ != nullptr) detail::endpoint_of(detail::impl_of(*world_)).kill_job(reason);
}

void launched_job::on_exit() {
  if (world_ == nullptr) return;
  std::exception_ptr error;
  try {
    if (in_section_) throw std::runtime_error("exit() was called within a section");
    if (world_->rank() == 0) send_command({}, 1, processes_);
  } catch (...) {
    error = std::current_exception();
  }
  end(error);
  if (code_ == 0) return;
  std::fflush(nullptr);
  _exit(code_);
}

// --- waiting processes

section_command launched_job::receive_command() {
  for (int polls = 0;; ++polls) {
    if (auto data = world_->try_recv<char>(source(0), tag(command_tag))) return deserialize(*data);
    sleep_between_polls(polls);
  }
}

void launched_job::run_commands() {
  for (;;) {
    const section_command command = receive_command();
    if (command.processes == 0) return;
    run_command(command, LPF_NO_ARGS);
  }
}

// --- first process

void launched_job::send_command(const section_command& command, lpf_pid_t first, lpf_pid_t end) {
  const std::vector<char> data = serialize(command);
  for (lpf_pid_t r = first; r < end; ++r)
    world_->bsend(send_buf(data), destination(static_cast<int>(r)), tag(command_tag));
}

lpf_err_t launched_job::exec(lpf_pid_t p, lpf_spmd_t spmd, const lpf_args_t& args) {
  if (world_ == nullptr) {
    report_error(operation_name, -1, "ctx", "the job has failed or is ending", "");
    return LPF_ERR_FATAL;
  }
  if (in_section_) {
    communicator alone = world_->range(world_->rank(), world_->rank());
    return run_section(alone, spmd, args, {processes_, 1}, operation_name);
  }
  std::exception_ptr error;
  try {
    const section_command command = command_for(p, spmd, args);
    try {
      send_command(command, 1, p);
      return run_command(command, args);
    } catch (...) {
      error = std::current_exception();
    }
  } catch (...) {
    return report_exception(operation_name);  // no other process has received anything
  }
  end(error);
  return LPF_ERR_FATAL;
}

// --- all processes

lpf_err_t launched_job::run_command(const section_command& command, const lpf_args_t& args) {
  const int p = static_cast<int>(command.processes);
  communicator part = world_->range(0, p - 1).duplicate();
  in_section_ = true;
  const lpf_err_t code = run_section_over(part, command, args);
  const int worst = part.allreduce_single(send_buf(code), op(ops::max<>{}));
  in_section_ = false;
  return worst;
}

lpf_err_t launched_job::run_section_over(communicator& part, const section_command& command,
                                         const lpf_args_t& local_args) {
  std::vector<lpf_func_t> symbols;
  lpf_spmd_t spmd = nullptr;
  int missing = -1;  // the last process that lacks some function
  try {
    spmd = reinterpret_cast<lpf_spmd_t>(function_at(command.spmd));
    for (const function_location& one : command.symbols)
      symbols.push_back(reinterpret_cast<lpf_func_t>(function_at(one)));
  } catch (const std::runtime_error& e) {
    missing = part.rank();
    report_error(operation_name, missing, "", e.what(), "");
  }
  missing = part.allreduce_single(send_buf(missing), op(ops::max<>{}));
  if (missing >= 0) {
    if (missing != part.rank())
      report_error(operation_name, part.rank(), "",
                   "process " + std::to_string(missing) + " does not have all functions", "");
    return LPF_ERR_FATAL;
  }
  lpf_args_t args = local_args;
  args.f_symbols = symbols.data();
  args.f_size = symbols.size();
  return run_section(part, spmd, args, {processes_, 1}, operation_name);
}

}  // namespace tutti::lpf

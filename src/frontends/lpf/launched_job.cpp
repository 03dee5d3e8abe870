// SPDX-License-Identifier: Apache-2.0
#include "frontends/lpf/launched_job.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <stdexcept>

#include <time.h>
#include <unistd.h>

#include "base/environment.hpp"
#include "communicator/internal_calls.hpp"
#include "engines/engine.hpp"
#include "frontends/lpf/exec.hpp"
#include "frontends/lpf/program_header.hpp"
#include "frontends/lpf/report_error.hpp"
#include "frontends/lpf/section.hpp"
#include "runtime/launch/modules.hpp"
#include "tutti/run.hpp"
#include "tutti/tutti.hpp"

extern "C" const int LPF_MPI_AUTO_INITIALIZE;

namespace tutti::lpf {
namespace {

constexpr const char* here = "lpf_exec";
constexpr int order_tag = 0;

// The job of this process. LPF_ROOT cannot carry it, so it is stored here. It is never destroyed,
// because exit() may be called anywhere.
launched_job* job_of_process = nullptr;

// Waiting processes may share a core with the first process, so they sleep.
void rest(int looks) {
  const timespec a_while{0, looks < 100 ? 20'000 : looks < 1000 ? 200'000 : 1'000'000};
  nanosleep(&a_while, nullptr);
}

template <class Function>
function_location place_of_any(Function* function) {
  return place_of(reinterpret_cast<void (*)()>(function));
}

order order_of(lpf_pid_t p, lpf_spmd_t spmd, const lpf_args_t& args) {
  order what;
  what.processes = p;
  what.spmd = place_of_any(spmd);
  for (std::size_t i = 0; i < args.f_size; ++i) what.symbols.push_back(place_of_any(args.f_symbols[i]));
  return what;
}

}  // namespace

launched_job* launched_job::mine() noexcept { return job_of_process; }

bool launched_job::is_wanted() noexcept {
  try {
    if (LPF_MPI_AUTO_INITIALIZE == 0) return false;
    const std::string wish = setting("TUTTI_ENGINE").value_or("");
    if (wish.empty()) return find_launcher().mpi;
    const engine_entry* engine = find_engine(wish);
    return engine != nullptr && !engine->embedded();
  } catch (...) {
    return false;  // lpf_exec() finds the error again and reports it
  }
}

int launched_job::join(int argc, char** argv, const std::function<void()>& before_waiting) {
  try {
    job_of_process = new launched_job;
    return job_of_process->begin(argc, argv, before_waiting);
  } catch (...) {
    report_exception(here);
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
  if (std::atexit([] { job_of_process->end_of_process(); }) != 0) throw std::bad_alloc();
  if (world_->rank() == 0) return go_on_to_main;
  std::exception_ptr why;
  try {
    before_waiting();
    serve();
  } catch (...) {
    why = std::current_exception();
  }
  end(why);
  return code_;
}

// Must not be called in a catch block. The exception being handled is state of the thread, not of
// the stack.
void launched_job::end(std::exception_ptr why) {
  failure_ = std::move(why);
  run_.go_on();
  in_section_ = false;
}

void launched_job::kill(const char* why) {
  if (world_ != nullptr) detail::endpoint_of(detail::impl_of(*world_)).kill_job(why);
}

void launched_job::end_of_process() {
  if (world_ == nullptr) return;
  std::exception_ptr why;
  try {
    if (in_section_) throw std::runtime_error("exit() was called within a section");
    if (world_->rank() == 0) give_out({}, 1, processes_);
  } catch (...) {
    why = std::current_exception();
  }
  end(why);
  if (code_ == 0) return;
  std::fflush(nullptr);
  _exit(code_);
}

// --- The waiting processes.

std::vector<char> launched_job::next_order() {
  for (int looks = 0;; ++looks) {
    if (auto text = world_->try_recv<char>(source(0), tag(order_tag))) return std::move(*text);
    rest(looks);
  }
}

void launched_job::serve() {
  for (;;) {
    const order what = read_order(next_order());
    if (what.processes == 0) return;
    take_part(what, LPF_NO_ARGS);
  }
}

// --- The first process.

void launched_job::give_out(const order& what, lpf_pid_t first, lpf_pid_t end) {
  const std::vector<char> text = written(what);
  for (lpf_pid_t r = first; r < end; ++r)
    world_->bsend(send_buf(text), destination(static_cast<int>(r)), tag(order_tag));
}

lpf_err_t launched_job::exec(lpf_pid_t p, lpf_spmd_t spmd, const lpf_args_t& args) {
  if (world_ == nullptr || in_section_) {
    report_error(here, -1, "ctx",
                 world_ == nullptr ? "the job has failed or is ending"
                                   : "is LPF_ROOT, but this process is in a section",
                 world_ == nullptr ? "" : "pass the section's context");
    return LPF_ERR_FATAL;
  }
  std::exception_ptr why;
  try {
    const order what = order_of(p, spmd, args);
    try {
      give_out(what, 1, p);
      return take_part(what, args);
    } catch (...) {
      why = std::current_exception();
    }
  } catch (...) {
    return report_exception(here);  // no other process has received anything
  }
  end(why);
  return LPF_ERR_FATAL;
}

// --- All processes.

lpf_err_t launched_job::take_part(const order& what, const lpf_args_t& own) {
  const int p = static_cast<int>(what.processes);
  communicator part = world_->range(0, p - 1).duplicate();
  in_section_ = true;
  const lpf_err_t code = run_in(part, what, own);
  const int worst = part.allreduce_single(send_buf(code), op(ops::max<>{}));
  in_section_ = false;
  return worst;
}

lpf_err_t launched_job::run_in(communicator& part, const order& what, const lpf_args_t& own) {
  std::vector<lpf_func_t> symbols;
  lpf_spmd_t spmd = nullptr;
  int missing = -1;  // the last process that lacks some function
  try {
    spmd = reinterpret_cast<lpf_spmd_t>(function_at(what.spmd));
    for (const function_location& one : what.symbols)
      symbols.push_back(reinterpret_cast<lpf_func_t>(function_at(one)));
  } catch (const std::runtime_error& e) {
    missing = part.rank();
    report_error(here, missing, "", e.what(), "");
  }
  missing = part.allreduce_single(send_buf(missing), op(ops::max<>{}));
  if (missing >= 0) {
    if (missing != part.rank())
      report_error(here, part.rank(), "",
                   "process " + std::to_string(missing) + " does not have all functions", "");
    return LPF_ERR_FATAL;
  }
  lpf_args_t args = own;
  args.f_symbols = symbols.data();
  args.f_size = symbols.size();
  return run_section(part, spmd, args, {processes_, 1}, here);
}

}  // namespace tutti::lpf

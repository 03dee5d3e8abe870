// SPDX-License-Identifier: Apache-2.0
//
// ends HOW: programs that end in other ways than by returning from main. Also tests which static
// objects of the program exist in processes that never reach main. The test expects a certain exit
// code, and that the program ends at all.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "lpf/abort.h"
#include "lpf/core.h"
#include "roll.h"
#include "tutti/tutti.hpp"

namespace {

// Initialized by constructors before main, in this file and in another one.
struct static_text {
  std::string text;
  static_text() : text("of this file") {}
  ~static_text() { text.clear(); }
};
static_text text_of_this_file;

std::string how;

}  // namespace

extern const std::string& text_of_another_file();

namespace {

void check_static_objects(lpf_t ctx, lpf_pid_t, lpf_pid_t, lpf_args_t) {
  CHECK(text_of_this_file.text == "of this file");
  CHECK(text_of_another_file() == "of another file, which is long enough to lie on the heap");
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
}

// Acts in the last process.
template <void (*Act)(lpf_t)>
void act(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t) {
  if (pid + 1 == nprocs) Act(ctx);
  lpf_sync(ctx, LPF_SYNC_DEFAULT);
}
void throw_something(lpf_t) { throw std::runtime_error("a section that throws"); }
void call_exit(lpf_t) { std::exit(0); }
void call_abort(lpf_t ctx) { lpf_abort(ctx); }

lpf_err_t run(lpf_spmd_t what) { return lpf_exec(LPF_ROOT, LPF_MAX_P, what, LPF_NO_ARGS); }

struct exit_in_destructor {
  ~exit_in_destructor() { std::exit(7); }
};

struct destructor_report {
  ~destructor_report() { std::fputs("destructors run\n", stderr); }
} last;

}  // namespace

int main(int argc, char** argv) {
  how = argc > 1 ? argv[1] : "return";
  if (how == "exit_first") std::exit(7);
  CHECK(run(&check_static_objects) == LPF_SUCCESS);
  if (how == "exit") exit_in_destructor now;
  if (how == "throw") throw std::runtime_error("a main that throws");
  if (how == "abort") lpf_abort(LPF_ROOT);
  if (how == "section_throws") return run(&act<throw_something>) == LPF_ERR_FATAL ? 8 : 0;
  if (how == "section_exits") return run(&act<call_exit>) == LPF_ERR_FATAL ? 8 : 0;
  if (how == "section_aborts") return run(&act<call_abort>) == LPF_ERR_FATAL ? 8 : 0;
  if (how == "runs")  // over MPI the other processes do not reach main, so it is rejected
    return tutti::run(argc, argv, [](tutti::communicator& world) { world.barrier(); });
  CHECK(how == "return");
  return 0;
}

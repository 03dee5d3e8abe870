// SPDX-License-Identifier: Apache-2.0
//
// Tests lpf_hook() over threads of the program, and over threads whose arguments disagree.
#include <atomic>
#include <functional>
#include <stdexcept>
#include <thread>
#include <vector>

#include "lpf/core.h"
#include "lpf/pthread.h"
#include "roll.h"

namespace {

struct entry_count {
  std::atomic<unsigned> entered{0};
};

void count(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  CHECK(pid < nprocs && args.f_size == 1 && args.output_size == sizeof(lpf_pid_t));
  CHECK(*static_cast<const lpf_pid_t*>(args.input) == pid);
  entry_count& all = *reinterpret_cast<entry_count* (*)()>(args.f_symbols[0])();
  ++all.entered;
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  CHECK(all.entered % nprocs == 0);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
  *static_cast<lpf_pid_t*>(args.output) = pid + nprocs;
}

entry_count* shared_count() {
  static entry_count one;
  return &one;
}

void hook_once(lpf_init_t init, lpf_pid_t pid, lpf_pid_t p) {
  lpf_pid_t got = 0;
  const lpf_func_t symbol = reinterpret_cast<lpf_func_t>(&shared_count);
  CHECK(lpf_hook(init, &count, {&pid, sizeof pid, &got, sizeof got, &symbol, 1}) == LPF_SUCCESS);
  CHECK(got == pid + p);
}

// A section of the same threads within their section, and an exec on each.
void nested(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t args) {
  hook_once(*static_cast<const lpf_init_t*>(args.input), pid, nprocs);
  CHECK(lpf_exec(
            ctx, 2,
            [](lpf_t inner, lpf_pid_t, lpf_pid_t n, lpf_args_t) {
              CHECK(n == 1);  // the section has all threads
              CHECK(lpf_sync(inner, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
            },
            LPF_NO_ARGS) == LPF_SUCCESS);
  CHECK(lpf_sync(ctx, LPF_SYNC_DEFAULT) == LPF_SUCCESS);
}

void throw_in_last(lpf_t ctx, lpf_pid_t pid, lpf_pid_t nprocs, lpf_args_t) {
  if (pid + 1 == nprocs) throw std::runtime_error("a section that throws");
  lpf_sync(ctx, LPF_SYNC_DEFAULT);
}

void on_threads(lpf_pid_t p, const std::function<void(lpf_pid_t)>& body) {
  std::vector<std::thread> threads;
  for (lpf_pid_t pid = 0; pid < p; ++pid) threads.emplace_back(body, pid);
  for (auto& t : threads) t.join();
}

void hooks(lpf_pid_t p) {
  shared_count()->entered = 0;
  on_threads(p, [p](lpf_pid_t pid) {
    lpf_init_t init = LPF_INIT_NONE;
    CHECK(lpf_pthread_initialize(pid, p, &init) == LPF_SUCCESS && init != LPF_INIT_NONE);
    for (int i = 0; i < 20; ++i) hook_once(init, pid, p);
    CHECK(lpf_hook(init, &nested, {&init, sizeof init, nullptr, 0, nullptr, 0}) == LPF_SUCCESS);
    CHECK(lpf_hook(init, &throw_in_last, LPF_NO_ARGS) == LPF_ERR_FATAL);
    hook_once(init, pid, p);  // the failure has no lasting effect
    CHECK(lpf_pthread_finalize(init) == LPF_SUCCESS);
  });
}

void disagreements() {
  const auto all_fail = [](lpf_pid_t p, const std::function<lpf_pid_t(lpf_pid_t)>& pid_of,
                           const std::function<lpf_pid_t(lpf_pid_t)>& nprocs_of) {
    on_threads(p, [&](lpf_pid_t thread) {
      lpf_init_t init = &init;
      CHECK(lpf_pthread_initialize(pid_of(thread), nprocs_of(thread), &init) == LPF_ERR_FATAL);
      CHECK(init == LPF_INIT_NONE);
    });
    hooks(2);  // the failure has no lasting effect
  };
  const auto same_pid = [](lpf_pid_t thread) { return thread; };
  const auto three = [](lpf_pid_t) { return lpf_pid_t{3}; };
  all_fail(
      3, [](lpf_pid_t thread) { return thread / 2; }, three);  // 0 0 1
  all_fail(
      3, [](lpf_pid_t thread) { return thread + 1; }, three);                         // 1 2 3
  all_fail(3, same_pid, [](lpf_pid_t thread) { return lpf_pid_t{3} - thread / 2; });  // 3 3 2
  all_fail(3, same_pid,
           // 3 4 3: a fourth thread is missing
           [](lpf_pid_t thread) { return lpf_pid_t{3} + thread % 2; });
}

// A thread that waits for one that has left gets an error.
void one_leaves() {
  shared_count()->entered = 0;
  on_threads(3, [](lpf_pid_t pid) {
    lpf_init_t init = LPF_INIT_NONE;
    CHECK(lpf_pthread_initialize(pid, 3, &init) == LPF_SUCCESS);
    hook_once(init, pid, 3);
    if (pid != 1) {
      CHECK(lpf_hook(init, &count, LPF_NO_ARGS) == LPF_ERR_FATAL);
    }
    CHECK(lpf_pthread_finalize(init) == LPF_SUCCESS);
  });
  CHECK(lpf_pthread_finalize(LPF_INIT_NONE) == LPF_ERR_FATAL);
  CHECK(lpf_hook(LPF_INIT_NONE, &count, LPF_NO_ARGS) == LPF_ERR_FATAL);
}

}  // namespace

int main() {
  setenv("TUTTI_RANKS", "2", 1);
  for (const lpf_pid_t p : {1, 3, 8}) hooks(p);
  disagreements();
  one_leaves();
}

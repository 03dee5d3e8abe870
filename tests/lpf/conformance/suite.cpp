// SPDX-License-Identifier: Apache-2.0
#include "suite.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>
#include <thread>

namespace suite {
namespace {

// For this operating-system process, which may contain many LPF processes.
std::atomic<int> failures = 0;
bool main_runs = false;

const char* engine() {
  const char* const value = std::getenv("TUTTI_ENGINE");
  return value != nullptr ? value : "mpi";
}

void run_one(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs, const lpf_args_t args) {
  const entry& e = *static_cast<const entry*>(args.input);
  const process me{ctx, pid, nprocs, e.name};
  try {
    e.run(me);
  } catch (const case_failed&) {
  } catch (const std::exception& x) {
    me.fail(std::string("an exception: ") + x.what());
  }
}

void run_all(const lpf_t ctx, const lpf_pid_t pid, const lpf_pid_t nprocs, const lpf_args_t args) {
  const char* const only = std::getenv("TUTTI_TEST_ONLY");
  const process me{ctx, pid, nprocs, "all"};
  me.check(args.f_size == 0, "args has functions that nobody passed");
  for (const entry& e : tests) {
    if (nprocs > e.max_processes || nprocs < e.min_processes ||
        (only != nullptr && std::string_view(only) != e.name))
      continue;
    lpf_args_t which = LPF_NO_ARGS;
    which.input = &e;
    which.input_size = sizeof e;
    const lpf_err_t end = lpf_rehook(ctx, run_one, which);
    const process at{ctx, pid, nprocs, e.name};
    if (!e.fails) at.returns(end, LPF_SUCCESS, "lpf_rehook");
    at.returns(lpf_sync(ctx, LPF_SYNC_DEFAULT), LPF_SUCCESS, "lpf_sync of the outer section");
  }
  // The library decides the exit status of processes that wait before main. So processes that have
  // failed exit here, after a delay in which others can print.
  if (failures > 0 && !main_runs) {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    std::fflush(nullptr);
    std::_Exit(3);
  }
}

}  // namespace

unsigned thinning() {
  const char* const value = std::getenv("LPF_TEST_THIN");
  return value != nullptr && std::atoi(value) > 0 ? static_cast<unsigned>(std::atoi(value)) : 1;
}

bool in_checked_mode() {
  const char* const mode = std::getenv("TUTTI_CHECK");
  return mode != nullptr && *mode == '1';
}

void process::fail(const std::string& what) const {
  if (++failures > 60) return;
  std::fprintf(stderr, "FAILED process %u of %u on %s: %s: %s\n", pid, p, engine(), test, what.c_str());
}

void process::returns(lpf_err_t got, lpf_err_t wanted, const std::string& call) const {
  const auto name = [](lpf_err_t e) {
    return e == LPF_SUCCESS             ? std::string("success")
           : e == LPF_ERR_OUT_OF_MEMORY ? std::string("out of memory")
           : e == LPF_ERR_FATAL         ? std::string("fatal")
                                        : std::to_string(e);
  };
  if (got != wanted) fail(call + " returns " + name(got) + ", should be " + name(wanted));
}

void process::needs(lpf_err_t got, const std::string& call) const {
  returns(got, LPF_SUCCESS, call);
  if (got != LPF_SUCCESS) throw case_failed();
}

void process::equal(const unsigned char* got, const unsigned char* wanted, std::size_t n,
                    const std::string& what) const {
  if (n == 0 || std::memcmp(got, wanted, n) == 0) return;
  std::size_t i = 0, differ = 0;
  for (std::size_t k = n; k-- > 0;)
    if (got[k] != wanted[k]) i = k, ++differ;
  fail(what + ": byte " + std::to_string(i) + " of " + std::to_string(n) + " is " + std::to_string(got[i]) +
       ", should be " + std::to_string(wanted[i]) + ", and " + std::to_string(differ) + " bytes differ");
}

void process::resize(std::size_t slots, std::size_t messages) const {
  needs(lpf_resize_memory_register(ctx, slots), "lpf_resize_memory_register");
  needs(lpf_resize_message_queue(ctx, messages), "lpf_resize_message_queue");
  sync();
}

}  // namespace suite

int main() {
  suite::main_runs = true;
  const lpf_err_t end = lpf_exec(LPF_ROOT, LPF_MAX_P, suite::run_all, LPF_NO_ARGS);
  if (end != LPF_SUCCESS) std::fprintf(stderr, "FAILED lpf_exec returns %d\n", end);
  if (suite::failures > 0) std::fprintf(stderr, "%d checks failed\n", suite::failures.load());
  return end == LPF_SUCCESS && suite::failures == 0 ? 0 : 1;
}

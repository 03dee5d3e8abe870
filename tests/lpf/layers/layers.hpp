// SPDX-License-Identifier: Apache-2.0
//
// Shared code of the programs of this folder. A check ends the whole job on failure. Random numbers
// are the same on every process. The main runs each case in its own section.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <vector>

#include "lpf/core.h"

namespace layers {

inline void check(bool holds, const char* what, const char* file, int line) {
  if (holds) return;
  std::fprintf(stderr, "FAILED %s:%d: %s\n", file, line, what);
  std::fflush(nullptr);
  std::_Exit(3);
}

#define CHECK(...) layers::check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)
#define CHECK_LPF(...) CHECK((__VA_ARGS__) == LPF_SUCCESS)
#define CHECK_BSPLIB(...) CHECK((__VA_ARGS__) == BSPLIB_SUCCESS)

/// Returns a pseudo-random number that depends only on the arguments.
inline std::uint64_t hash_of(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t x = 0x243f6a8885a308d3u;
  for (const std::uint64_t part : parts) {
    x = (x ^ (part + 0x9e3779b97f4a7c15u)) * 0xbf58476d1ce4e5b9u;
    x ^= x >> 31;
    x *= 0x94d049bb133111ebu;
    x ^= x >> 29;
  }
  return x;
}

/// Returns bytes that depend on `seed`.
inline std::vector<unsigned char> bytes_of(std::uint64_t seed, std::size_t n) {
  std::vector<unsigned char> all(n);
  for (std::size_t i = 0; i < n; ++i) all[i] = static_cast<unsigned char>(hash_of({seed, i}));
  return all;
}

inline bool same(const void* a, const std::vector<unsigned char>& b) {
  return b.empty() || std::memcmp(a, b.data(), b.size()) == 0;
}

struct test_case {
  const char* name;
  lpf_spmd_t run;
  bool fails = false;  ///< the section must end with LPF_ERR_FATAL
};

/// PROGRAM P [CASE]
inline int run(int argc, char** argv, std::initializer_list<test_case> cases) {
  CHECK(argc > 1);
  lpf_pid_t p = static_cast<lpf_pid_t>(std::atoi(argv[1]));
  lpf_args_t args = LPF_NO_ARGS;
  args.input = &p;
  args.input_size = sizeof p;
  for (const test_case& one : cases) {
    if (argc > 2 && std::strcmp(argv[2], one.name) != 0) continue;
    const lpf_err_t code = lpf_exec(LPF_ROOT, LPF_MAX_P, one.run, args);
    if (code == (one.fails ? LPF_ERR_FATAL : LPF_SUCCESS)) continue;
    std::fprintf(stderr, "FAILED %s: lpf_exec returns %d\n", one.name, code);
    return 3;
  }
  return 0;
}

/// Checks that the section has as many processes as the job.
inline void check_processes(lpf_pid_t pid, lpf_pid_t nprocs, const lpf_args_t& args) {
  if (pid == 0)
    CHECK(args.input_size == sizeof nprocs && *static_cast<const lpf_pid_t*>(args.input) == nprocs);
}

}  // namespace layers

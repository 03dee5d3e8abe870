// SPDX-License-Identifier: Apache-2.0
//
// The frame of the programs of this folder: an MPI job that fails on all ranks if one of them
// throws.
#pragma once

#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>

#include <mpi.h>

#include "engines/mpi/mpi_endpoint.hpp"

namespace tests {

/// The rank that runs the tests.
struct rank_of_job {
  int rank = 0, size = 1;
};
inline rank_of_job here_is;

inline const tutti::shm::wait_site here{"test", "", "the other ranks",
                                        -1,     -1, tutti::shm::wait_site::unnumbered};

inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error("rank " + std::to_string(here_is.rank) + ": " + what);
}

inline tutti::detail::group all_ranks() {
  return tutti::detail::group::range(0, 1, here_is.size, here_is.rank);
}

/// Whether a condition of the engine holds on this rank.
inline bool condition_of(const tutti::mpi::mpi_endpoint& ep, std::string_view name) {
  for (const tutti::detail::engine_condition& one : ep.conditions())
    if (one.name == name) return one.holds;
  throw std::runtime_error("the engine has no condition " + std::string(name));
}

/// The exit status of a program that cannot be tested on this machine.
inline constexpr int skipped = 77;

/// Calls `test` on the ranks of a job of at least two. MPI is initialized, and is finalized here.
template <class Test>
int run_started_test(const Test& test) {
  MPI_Comm_rank(MPI_COMM_WORLD, &here_is.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &here_is.size);
  try {
    if (here_is.size > 1) test();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "FAILED %s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

/// The same for a program that has not initialized MPI. `level`: of threads, which MPI is asked
/// for.
template <class Test>
void run_test(int argc, char** argv, const Test& test, int level = MPI_THREAD_SINGLE) {
  int provided = level;
  MPI_Init_thread(&argc, &argv, level, &provided);
  run_started_test(test);
}

}  // namespace tests

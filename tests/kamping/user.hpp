// SPDX-License-Identifier: Apache-2.0
//
// Common code of the programs of this folder: a failed check ends the job and is reported with its
// rank.
#pragma once

#include "runtime/launch/modules.hpp"
#include "support/check.hpp"
#include "support/program.hpp"
#include "tutti/kamping.hpp"

namespace tests {

/// Runs `program` between the start and the end of MPI.
template <class Program>
int as_user(int argc, char** argv, Program&& program) {
  const program_start start(argc, argv);
  failure_site at{0, tutti::detail::find_launcher().ranks, tutti::detail::find_launcher().module};
  kamping::Environment environment(argc, argv);
  at.rank = kamping::world_rank_signed();
  try {
    program();
  } catch (const std::exception& e) {
    print_failure(start, at, e);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return 0;
}

}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
//
// The report of a failing test, the same for every kind of test. One line has the rank, the engine,
// the number of ranks, the seed, the case and the reason. The other has the command that repeats
// only that case.
//
//   FAILED rank 3 of 5 on fibers (seed 17): allreduce/ring/...: element 4 is 7, should be 9
//   again: TUTTI_ENGINE=fibers TUTTI_RANKS=5 TUTTI_SEED=17 .../spmd_algorithms
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tests {

/// The rank that failed; no rank means the test itself. An MPI engine is named by its MPI.
struct failure_site {
  int rank = -1, ranks = 0;
  std::string engine;
  std::uint64_t seed = 0;  // of the interleaving; 0: none

  std::string text() const;  // "rank 3 of 5 on fibers (seed 17)"
};

/// Returns the name after --only, or nothing for all cases.
std::string selected_case();
/// Returns TUTTI_TEST_SEED at the start of the program.
std::optional<std::uint64_t> selected_seed();

/// Records how this program was started. Construct it at the beginning of main(), before anything
/// changes the environment.
class program_start {
 public:
  /// Removes "--only CASE" from the arguments. Removes TUTTI_TEST_SEED from the environment,
  /// because the library warns about unknown variables.
  program_start(int& argc, char** argv);

  /// Returns the line that begins with "again: ". Engine, number of ranks and interleaving come
  /// from `at` if they are set there.
  std::string repeat_command(const failure_site& at, const std::vector<std::string>& arguments,
                             const std::string& seed = "") const;
  /// The program's arguments except --only.
  const std::vector<std::string>& arguments() const noexcept { return arguments_; }

 private:
  std::string program_;
  std::vector<std::string> arguments_;
  std::vector<std::pair<std::string, std::string>> variables_;  // variables that affect a run
};

}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
//
// What a failing test says of itself, the same for every kind of test: one line with the rank, the engine,
// the number of ranks, the seed, the case and the reason, and one with the command that runs just that again.
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

/// Who failed. No rank: the test itself. An engine of MPI is named by its MPI.
struct place {
  int rank = -1, ranks = 0;
  std::string engine;
  std::uint64_t seed = 0;  // of the interleaving; 0: none was drawn

  std::string text() const;  // "rank 3 of 5 on fibers (seed 17)"
};

/// The name after --only, or nothing: all cases.
std::string wanted_case();
/// TUTTI_TEST_SEED as it was when the program began.
std::optional<std::uint64_t> wanted_seed();

/// How this program was started. Made at the beginning of main(), before anything changes the environment.
class beginning {
 public:
  /// Takes "--only CASE" out of the arguments, and TUTTI_TEST_SEED out of the environment, where the library
  /// would wonder about a variable that it does not know.
  beginning(int& argc, char** argv);

  /// The line that begins with "again: ". `at` decides engine, number of ranks and interleaving where it
  /// names them.
  std::string again(const place& at, const std::vector<std::string>& arguments,
                    const std::string& seed = "") const;
  /// Those of the program but for --only.
  const std::vector<std::string>& arguments() const noexcept { return arguments_; }

 private:
  std::string program_;
  std::vector<std::string> arguments_;
  std::vector<std::pair<std::string, std::string>> variables_;  // that a run depends on
};

}  // namespace tests

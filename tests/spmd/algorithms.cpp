// SPDX-License-Identifier: Apache-2.0
//
// Runs the cases of algorithm_cases.hpp as a job, on every engine.
#include "support/algorithm_cases.hpp"
#include "support/program.hpp"

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](tutti::communicator& world, tests::cases& cases) {
    tests::try_every_algorithm(tutti::detail::impl_of(world), cases);
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// The cases of algorithm_cases.hpp as a program, for every engine that can run one.
#include "support/algorithm_cases.hpp"
#include "support/program.hpp"

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](tutti::communicator& world, tests::cases& cases) {
    tests::try_every_algorithm(tutti::detail::impl_of(world), cases);
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// Runs the cases of every composition as a job, on the nodes that TUTTI_NODES simulates, on every
// engine.
#include "support/algorithm_cases.hpp"
#include "support/program.hpp"

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](tutti::communicator& world, tests::cases& cases) {
    tests::try_every_composition(tutti::detail::impl_of(world), cases);
  });
}

// SPDX-License-Identifier: Apache-2.0
//
// Every composition as a program, over the nodes that TUTTI_NODES pretends, for every engine that can run
// one.
#include "support/algorithm_cases.hpp"
#include "support/program.hpp"

int main(int argc, char** argv) {
  return tests::run_program(argc, argv, [](tutti::communicator& world, tests::cases& cases) {
    tests::try_every_composition(tutti::detail::impl_of(world), cases);
  });
}

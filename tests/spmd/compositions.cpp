// SPDX-License-Identifier: Apache-2.0
//
// Every composition as a program, over the nodes that TUTTI_NODES pretends, for every engine that can run
// one.
#include "support/algorithm_cases.hpp"
#include "tutti/tutti.hpp"

int main(int argc, char** argv) {
  return tutti::run(argc, argv, [](tutti::communicator& world) {
    tutti::algorithm_cases::try_every_composition(world.native());
  });
}

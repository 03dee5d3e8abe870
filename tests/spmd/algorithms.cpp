// SPDX-License-Identifier: Apache-2.0
//
// The cases of algorithm_cases.hpp as a program, for every engine that can run one.
#include "support/algorithm_cases.hpp"
#include "tutti/tutti.hpp"

int main(int argc, char** argv) {
  return tutti::run(argc, argv, [](tutti::communicator& world) { tutti::algorithm_cases::try_everything(world.native()); });
}

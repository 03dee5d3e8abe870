// SPDX-License-Identifier: Apache-2.0
//
// A program without dynamic linker.
#include <tutti/tutti.hpp>

int main(int argc, char** argv) {
  return tutti::run(argc, argv, [](tutti::communicator& world) { world.barrier(); });
}

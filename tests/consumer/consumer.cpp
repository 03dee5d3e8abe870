// SPDX-License-Identifier: Apache-2.0
//
// A third-party program that uses only installed files of tutti.
#include <cstdio>

#include <tutti/tutti.hpp>
#include <tutti/version.hpp>

int main(int argc, char** argv) {
  return tutti::run(argc, argv, [](tutti::communicator& world) {
    world.barrier();
    if (world.rank() == 0) std::printf("tutti %s: %d ranks\n", TUTTI_VERSION, world.size());
  });
}

// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <tutti/tutti.hpp>

int main(int argc, char** argv) {
  tutti::run_options options;
  options.argc = argc;
  options.argv = argv;
  options.header = nullptr;  // the same as in a program that was compiled elsewhere
  return tutti::run(
      options,
      [](tutti::communicator& world) {
        world.barrier();
        if (world.rank() == 0) std::printf("%d ranks\n", world.size());
      },
      std::nothrow);
}

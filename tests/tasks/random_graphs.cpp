// SPDX-License-Identifier: Apache-2.0
//
// random_graphs FIRST LAST [MAX_TASKS] [WORKERS]: random task programs, one for each seed
// (random_graphs/random_graph.hpp). All contents that tasks and the program see, and the final
// contents, must be those of a serial run. The name of a case is for example seed_17.
#include <cstdlib>
#include <string>

#include "random_graphs/random_graph.hpp"
#include "support/program.hpp"
#include "tutti/tutti.hpp"

int main(int argc, char** argv) {
  // Reads the arguments before the program removes its own.
  const auto number = [&](int i, unsigned long default_value) {
    return i < argc && argv[i][0] != '-' ? std::strtoul(argv[i], nullptr, 10) : default_value;
  };
  const unsigned long first = number(1, 1), last = number(2, first + 9), most = number(3, 2000),
                      workers = number(4, 0);
  return tests::run_program(argc, argv, [&](tutti::communicator& world, tests::cases& cases) {
    for (unsigned long seed = first; seed <= last; ++seed)
      cases([&] { return "seed_" + std::to_string(seed); },
            [&] {
              graphs::run_and_compare(
                  graphs::draw(seed, world.size(), static_cast<int>(most), static_cast<int>(workers)), world,
                  seed);
            });
  });
}

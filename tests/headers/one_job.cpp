// SPDX-License-Identifier: Apache-2.0
//
// Runs the examples in one job, for MPI, which a process can start only once. Without an argument,
// runs all examples that are code of one rank. `--list` prints the names of the whole programs, and
// with such a name it runs that program.
#include <exception>
#include <string_view>

#include "headers/examples.hpp"

namespace {

std::string name_of(const example& e) { return e.source + ":" + std::to_string(e.line); }

int run_all(int argc, char** argv) {
  return tutti::run(argc, argv, [](tutti::communicator& world) {
    for (const example& e : examples) {
      if (e.on_each_rank == nullptr) continue;
      tutti::communicator own = world.duplicate();
      try {
        e.on_each_rank(own);
      } catch (const std::exception& problem) {
        std::fprintf(stderr, "FAILED rank %d: %s: %s\n", world.rank(), name_of(e).c_str(), problem.what());
        throw;
      }
    }
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return run_all(argc, argv);
  const std::string_view wanted = argv[1];
  for (const example& e : examples) {
    if (e.program == nullptr) continue;
    if (wanted == "--list") std::printf("%s\n", name_of(e).c_str());
    if (wanted == name_of(e)) return e.program(argc, argv);
  }
  if (wanted == "--list") return 0;
  std::fprintf(stderr, "there is no program %s\n", argv[1]);
  return 2;
}

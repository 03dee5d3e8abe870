// SPDX-License-Identifier: Apache-2.0
//
// Measures the first allreduce on a new communicator: one whose predecessors have been freed, and
// one that all others stay beside. The program does not know tutti. It checks the results.
//
//   mpirun -n 2 new_communicators_openmpi
//   tutti preload -- mpirun -n 2 new_communicators_openmpi
//
// Prints the least, the median and the greatest time of rank 0 in us, of `--communicators`.
#include <algorithm>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <mpi.h>
#include <nlohmann/json.hpp>

namespace {

double us_of_first_allreduce(MPI_Comm on) {
  double mine = 1, sum = 0;
  int ranks = 0;
  MPI_Comm_size(on, &ranks);
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, on);
  const double us = (MPI_Wtime() - begin) * 1e6;
  if (sum != ranks) {
    fmt::print(stderr, "new_communicators: wrong result of an allreduce\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  return us;
}

nlohmann::json figures_of(std::vector<double> us) {
  std::sort(us.begin(), us.end());
  return {{"least", us.front()}, {"median", us[us.size() / 2]}, {"greatest", us.back()}};
}

void measure(int count, bool json) {
  std::vector<double> freed, kept;
  for (int i = 0; i < count; ++i) {
    MPI_Comm one;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    freed.push_back(us_of_first_allreduce(one));
    MPI_Comm_free(&one);
  }
  std::vector<MPI_Comm> all(static_cast<std::size_t>(count));
  for (MPI_Comm& one : all) {
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    kept.push_back(us_of_first_allreduce(one));
  }
  for (MPI_Comm& one : all) MPI_Comm_free(&one);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  const nlohmann::json figures{{"freed", figures_of(freed)}, {"kept", figures_of(kept)}};
  if (json) {
    fmt::print("{}\n", figures.dump(2));
    return;
  }
  fmt::print("{:<10}{:>10}{:>10}{:>10}\n", "us", "least", "median", "greatest");
  for (const auto& [name, of] : figures.items())
    fmt::print("{:<10}{:>10.1f}{:>10.1f}{:>10.1f}\n", name, of["least"].get<double>(),
               of["median"].get<double>(), of["greatest"].get<double>());
}

}  // namespace

int main(int argc, char** argv) {
  int communicators = 40;
  bool json = false;
  CLI::App app(
      "Measures the first allreduce on new communicators.\n\nExample: tutti preload -- mpirun -n 2 "
      "new_communicators_openmpi --json");
  app.add_option("--communicators", communicators, "number of communicators of each kind")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--json", json, "print JSON");
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  measure(communicators, json);
  MPI_Finalize();
}

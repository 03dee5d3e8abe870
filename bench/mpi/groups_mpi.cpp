// SPDX-License-Identifier: Apache-2.0
//
// Compares the cost of making and destroying a group with MPI_Comm_split and MPI_Comm_free of the
// same MPI, in one process: `mpirun -n 4 groups_openmpi`. A group has half of the ranks, as in a
// step of quicksort. Times are those of the slowest rank, the least of the medians of several
// batches. A ratio is MPI's time divided by that of the group.
#include <algorithm>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tutti/group.hpp>
#include <tutti/mpi.hpp>
#include <tutti/tutti.hpp>

namespace {

struct figure {
  std::string name;
  double ns = 0;
};

// Returns the time of one operation on the slowest rank.
double measure(int repetitions, int batches, const std::function<void()>& operation) {
  double best = 0;
  for (int b = 0; b < batches; ++b) {
    std::vector<double> times;
    for (int sample = 0; sample < 15; ++sample) {
      MPI_Barrier(MPI_COMM_WORLD);
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < repetitions; ++i) operation();
      double mine =
          std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - begin).count();
      double slowest = 0;
      MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      times.push_back(slowest / repetitions);
    }
    std::nth_element(times.begin(), times.begin() + 7, times.end());
    if (b == 0 || times[7] < best) best = times[7];
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  int repetitions = 200, batches = 5;
  bool json = false;
  CLI::App app(
      "Compares groups with MPI_Comm_split, in one run.\n\nExample: mpirun -n 2 groups_openmpi --json");
  app.add_option("--repetitions", repetitions, "groups that are created between two readings of the clock")
      ->check(CLI::PositiveNumber);
  app.add_option("--batches", batches, "number of batches, of which the best counts")
      ->check(CLI::PositiveNumber);
  app.add_flag("--json", json, "print JSON");
  CLI11_PARSE(app, argc, argv);
  MPI_Init(&argc, &argv);
  {
    using namespace tutti;
    communicator world = adopt(MPI_COMM_WORLD);
    const int p = world.size(), me = world.rank(), half = p / 2;
    const bool low = me < half || p == 1;
    const int first = low ? 0 : half, last = low ? std::max(half, 1) - 1 : p - 1;
    const chain all(world);
    const logchain log_chain(world);
    std::vector<figure> figures;
    const auto add = [&](const char* name, int n, const std::function<void()>& operation) {
      figures.push_back({name, measure(n, batches, operation)});
    };
    add("MPI_Comm_split + free", std::max(1, repetitions / 10), [&] {
      MPI_Comm made;
      MPI_Comm_split(MPI_COMM_WORLD, low ? 0 : 1, me, &made);
      MPI_Comm_free(&made);
    });
    add("range", repetitions * 20, [&] { communicator made = world.range(first, last); });
    add("range + 8-byte allreduce", repetitions, [&] {
      communicator made = world.range(first, last);
      made.allreduce_single(send_buf(1.0), op(std::plus<>{}));
    });
    add("chain: split_bin(2)", repetitions, [&] { (void)all.split_bin(2, low ? 0 : 1); });
    add("chain: split", repetitions, [&] { (void)all.split(low ? 0 : 1, me); });
    add("logchain: split_bin(2)", repetitions, [&] { (void)log_chain.split_bin(2, low ? 0 : 1); });
    add("communicator: split", repetitions, [&] { (void)world.split(low ? 0 : 1, me); });
    add("communicator: split + 8-byte allreduce", repetitions, [&] {
      const auto made = world.split(low ? 0 : 1, me);
      made->allreduce_single(send_buf(1.0), op(std::plus<>{}));
    });
    if (me == 0 && json) {
      nlohmann::json out{{"ranks", p}, {"figures", nlohmann::json::array()}};
      for (const figure& f : figures)
        out["figures"].push_back({{"name", f.name}, {"ns", f.ns}, {"ratio", figures[0].ns / f.ns}});
      fmt::print("{}\n", out.dump(2));
    } else if (me == 0) {
      fmt::print("{:<40} {:>12} {:>8}\n", fmt::format("p = {}", p), "ns", "ratio");
      for (const figure& f : figures)
        fmt::print("{:<40} {:>12.0f} {:>8.1f}\n", f.name, f.ns, figures[0].ns / f.ns);
    }
  }
  MPI_Finalize();
}

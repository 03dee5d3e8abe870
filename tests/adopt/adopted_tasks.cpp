// SPDX-License-Identifier: Apache-2.0
//
// Tests tasks in a program that starts MPI itself with only MPI_THREAD_FUNNELED. Kernels run on
// several threads, and only the rank's own thread communicates, beside messages of the program.
#include "tutti/tasks.hpp"

#include <cstdio>
#include <vector>

#include "support/check.hpp"
#include "tutti/mpi.hpp"

using tests::check;
using namespace tutti;

namespace {

// Runs a ring of ranks: each combines its numbers with those of the next rank.
void ring(const communicator& world, MPI_Comm of) {
  const int p = world.size(), me = world.rank();
  for (const std::size_t n : {1u, 20000u}) {
    tasks::runtime rt(world, {.workers = 3});
    std::vector<long> mine(n, me);
    std::vector<tasks::handle<std::span<long>>> all;
    for (int r = 0; r < p; ++r) all.push_back(r == me ? rt.data(mine, r) : rt.data<std::span<long>>(r, n));
    std::vector<long> right(static_cast<std::size_t>(p));
    for (int r = 0; r < p; ++r) right[static_cast<std::size_t>(r)] = r;
    for (int round = 0; round < 10 && p > 1; ++round) {
      for (int r = 0; r < p; ++r) {
        const auto next = static_cast<std::size_t>((r + 1) % p);
        rt.insert(
            [](std::span<long> x, std::span<const long> y) {
              for (std::size_t i = 0; i < x.size(); ++i) x[i] = (3 * x[i] + y[i]) % 1000003;
            },
            tasks::read_write(all[static_cast<std::size_t>(r)]), tasks::read(all[next]));
        right[static_cast<std::size_t>(r)] = (3 * right[static_cast<std::size_t>(r)] + right[next]) % 1000003;
      }
      int sum = 0;
      MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, of);
      check.equal(sum, p * (p - 1) / 2);
    }
    rt.wait_all();
    check.equal(mine, std::vector<long>(n, right[static_cast<std::size_t>(me)]));
  }
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  try {
    ring(adopt(MPI_COMM_WORLD), MPI_COMM_WORLD);
    MPI_Comm turned;
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &turned);
    ring(adopt(turned), turned);
    MPI_Comm_free(&turned);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
}

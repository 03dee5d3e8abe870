// SPDX-License-Identifier: Apache-2.0
//
// Cholesky factorization of a tiled matrix, distributed block-cyclically over a grid of ranks. The
// program inserts the steps of a serial program (cholesky/tiled.hpp) as tasks. The tiles that a
// task reads and writes determine what runs in parallel and what is sent.
#include <algorithm>
#include <chrono>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tutti/tasks.hpp>
#include <tutti/tutti.hpp>

#include "tasks/cholesky/tiled.hpp"

namespace {

using namespace tutti;
using cholesky::place;

struct outcome {
  double seconds = 0;   // of the slowest rank
  double residual = 0;  // on the root
  bool same = true;     // whether the local tiles equal those of a serial run
};

outcome run(communicator& world, int tiles, int length, int workers) {
  const std::size_t elements = static_cast<std::size_t>(length) * length;
  cholesky::matrix mine(tiles);
  tasks::runtime rt(world, {.workers = workers});
  cholesky::triangle<tasks::handle<std::span<double>>> a(tiles);
  cholesky::for_each_place(tiles, [&](place at) {
    const int owner = cholesky::owner(at, world.size());
    if (owner == world.rank()) {
      mine[at].resize(elements);
      fill(mine[at], at, tiles * length);
      a[at] = rt.data(mine[at], owner);
    } else {
      a[at] = rt.data<std::span<double>>(owner, elements);
    }
  });
  rt.barrier();

  const auto begin = std::chrono::steady_clock::now();
  cholesky::factorize(tiles, [&](auto kernel, place written, auto... read) {
    rt.insert(kernel, tasks::name(kernel.name), tasks::read_write(a[written]), tasks::read(a[read])...);
  });
  rt.wait_all();
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();

  outcome r{world.allreduce_single(send_buf(took), op(ops::max<>{}))};
  cholesky::matrix serial = cholesky::filled(tiles, length);
  cholesky::factorize(serial, tiles);
  cholesky::for_each_place(tiles, [&](place at) {
    r.same = r.same && (cholesky::owner(at, world.size()) != world.rank() || mine[at] == serial[at]);
  });

  rt.gather(a, 0);
  if (world.is_root()) {
    cholesky::matrix gathered(tiles);
    cholesky::for_each_place(tiles, [&](place at) {
      const auto tile = rt.acquire(a[at], tasks::access::read);
      gathered[at].assign(tile.get().begin(), tile.get().end());
    });
    r.residual = cholesky::residual(gathered, tiles);
  }
  rt.wait_all();
  return r;
}

}  // namespace

int main(int argc, char** argv) {
  int tiles = 8, length = 48, workers = 0;
  bool json = false;
  CLI::App app(
      "Computes Cholesky's factorization of a matrix in tiles.\n\nExample: TUTTI_RANKS=1 tasks_cholesky "
      "--tiles 16 "
      "--length 256 --workers 2");
  app.add_option("--tiles", tiles, "number of tiles in a row")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--length", length, "length of a row of a tile, in elements")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--workers", workers,
                 "number of kernels at the same time on each rank; default: TUTTI_TASK_WORKERS or 1")
      ->check(CLI::Range(1, 1000));
  app.add_flag("--json", json, "print JSON");
  CLI11_PARSE(app, argc, argv);
  cholesky::one_thread_each();
  return tutti::run(argc, argv, [=](communicator& world) {
    const outcome r = run(world, tiles, length, workers);
    if (!world.allreduce_single(send_buf(r.same), op(std::logical_and<>{})))
      throw std::runtime_error("cholesky: differs from the same kernels run one after the other");
    if (!(r.residual < 1))
      throw std::runtime_error(fmt::format("cholesky: a residual of {:.1f}", r.residual));
    if (!world.is_root()) return;
    const double gflops = cholesky::operations(tiles * length) / r.seconds * 1e-9;
    if (json)
      fmt::print("{}\n", nlohmann::ordered_json{{"ranks", world.size()},
                                                {"order", tiles * length},
                                                {"seconds", r.seconds},
                                                {"gflops", gflops},
                                                {"residual", r.residual}}
                             .dump());
    else
      fmt::print(
          "cholesky of order {} on {} ranks: {:.1f} GFlop/s, residual {:.4f}, equal to the kernels run one "
          "after the other\n",
          tiles * length, world.size(), gflops, r.residual);
  });
}

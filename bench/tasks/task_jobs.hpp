// SPDX-License-Identifier: Apache-2.0
//
// The jobs of the task benchmarks. Programs over tutti (tasks.cpp, mpi/tasks_mpi.cpp) and over
// StarPU-MPI (starpu/tasks_starpu.cpp) include this file, so that they differ only in the calls
// they make. They share data, kernels, distributions, checks, clock and statistics
// (src/tuning/measure.hpp).
//
// A side is a world (rank, size, barrier, max) with these jobs:
//
//   int workers();                                     // kernels at a time on each rank
//   static constexpr int trips;                        // of a ping-pong that is inserted at once
//   struct empty_tasks   { empty_tasks(side&, bool with_data);  void insert(int n);
//                          void finish(); };
//   struct stencil       { stencil(side&, const plate&, bool cached);  void iterate();
//                          std::uint64_t bytes(); };
//   struct ping_pong     { ping_pong(side&);  void blocking();  void detached(int trips); };
//   struct factorization { factorization(side&);  void fill();  void factorize();
//                          const double* tile(place); };
//
// A stencil writes to its plate. tile() returns null if another rank has the tile.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <nlohmann/json.hpp>

#include "tasks/cholesky/tiled.hpp"
#include "tuning/measure.hpp"

namespace bench {

/// `against`: another figure of the same run, without tasks.
struct task_figure {
  std::string name, unit;
  double value = 0;
  std::string against{};
};

inline void to_json(nlohmann::ordered_json& json, const task_figure& f) {
  json = {{"name", f.name}, {"unit", f.unit}, {"value", f.value}};
  if (!f.against.empty()) json["against"] = f.against;
}
inline void from_json(const nlohmann::ordered_json& json, task_figure& f) {
  f = {json.at("name"), json.at("unit"), json.at("value"), json.value("against", "")};
}

// True if a library of dense kernels was found.
inline constexpr bool with_cholesky = TUTTI_LAPACK;

// --- the stencil

/// 20 x 20 tiles of 1 KiB; a rank has those that it owns.
struct plate {
  static constexpr int side = 20, length = 128, steps = 10;
  static constexpr int tasks = steps * (side - 2) * (side - 2);
  bool checkerboard = false;
  int ranks = 1;
  std::vector<std::vector<double>> tiles{};

  plate(bool as_checkerboard, int p, int rank) : checkerboard(as_checkerboard), ranks(p), tiles(side * side) {
    for (int x = 0; x < side; ++x)
      for (int y = 0; y < side; ++y)
        if (rank < 0 || owner(x, y) == rank)
          for (int i = 0; i < length; ++i) at(x, y).push_back((x * 7919 + y * 104729 + i) % 1000);
  }
  int owner(int x, int y) const { return checkerboard ? (x + y) % ranks : x * ranks / side; }
  std::vector<double>& at(int x, int y) { return tiles[static_cast<std::size_t>(x * side + y)]; }
};

inline void stencil5(double* xy, const double* west, const double* east, const double* north,
                     const double* south) {
  for (int i = 0; i < plate::length; ++i) xy[i] = (xy[i] + west[i] + east[i] + north[i] + south[i]) / 5;
}

/// Calls `task(x, y)` for each task of all steps.
template <class Task>
void for_each_point(Task&& task) {
  for (int step = 0; step < plate::steps; ++step)
    for (int x = 1; x < plate::side - 1; ++x)
      for (int y = 1; y < plate::side - 1; ++y) task(x, y);
}

// --- how all of it is measured

struct task_settings {
  double budget_ms = 200;
  int tiles = 12, length = 256;  // of the matrix
  bool cholesky = with_cholesky;
};

template <class Side>
class task_measure {
 public:
  task_measure(Side& side, const task_settings& s) : side_(side), settings_(s) {}

  std::vector<task_figure> all() {
    const bool many = side_.size() > 1, plain = side_.workers() == 1;
    if (plain && !many) {
      empty_tasks(false, "empty tasks");
      empty_tasks(true, "tasks with one handle");
      stencil(false, true, "stencil");
    }
    if (plain && many) {
      stencil(false, true, "stencil, block");
      stencil(true, true, "stencil, checkerboard");
    }
    if (plain && side_.size() == 2) ping_pong();
    if constexpr (with_cholesky)
      if (settings_.cholesky) factorization();
    if (plain && many) {  // last, because StarPU's cache cannot be switched on again
      stencil(false, false, "stencil, block, no cache");
      stencil(true, false, "stencil, checkerboard, no cache");
    }
    return figures_;
  }

  /// Returns the seconds of `operation`, timed alone, without `before` and `after`.
  template <class Operation>
  double seconds(Operation&& operation, const std::function<void()>& before,
                 const std::function<void()>& after) {
    struct {
      const std::function<void()>&before, &after;
      void touch() { before(); }
      void read() { after(); }
      void touch(std::size_t) {}
      void read(std::size_t) {}
    } hooks{before, after};
    using namespace tutti::tuning;
    return measure(side_, mode::single, settings_.budget_ms, operation, hooks).us * 1e-6;
  }
  /// Returns the seconds of one operation in a loop of many.
  template <class Operation>
  double seconds_of_many(Operation&& operation) {
    struct {
      void touch() {}
      void read() {}
      void touch(std::size_t) {}
      void read(std::size_t) {}
    } hooks;
    using namespace tutti::tuning;
    return measure(side_, mode::loop, settings_.budget_ms, operation, hooks).us * 1e-6;
  }
  void add(task_figure f) { figures_.push_back(std::move(f)); }

 private:
  static constexpr int batch = 10000;

  void empty_tasks(bool with_data, const std::string& name) {
    typename Side::empty_tasks job(side_, with_data);
    const double inserted = seconds([&] { job.insert(batch); }, [] {}, [&] { job.finish(); });
    const double run = seconds(
        [&] {
          job.insert(batch);
          job.finish();
        },
        [] {}, [] {});
    add({name + ", inserted", "M/s", batch / inserted * 1e-6});
    add({name + ", inserted and run", "M/s", batch / run * 1e-6});
  }

  void stencil(bool checkerboard, bool cached, const std::string& name) {
    plate right(checkerboard, side_.size(), -1);
    for_each_point([&](int x, int y) {
      stencil5(right.at(x, y).data(), right.at(x - 1, y).data(), right.at(x + 1, y).data(),
               right.at(x, y - 1).data(), right.at(x, y + 1).data());
    });
    std::optional<plate> mine;
    std::optional<typename Side::stencil> job;
    double bytes = 0;
    bool same = true;
    const auto make = [&] {
      mine.emplace(checkerboard, side_.size(), side_.rank());
      job.emplace(side_, *mine, cached);
    };
    const auto check = [&] {
      bytes = static_cast<double>(job->bytes());
      job.reset();
      for (std::size_t t = 0; t < right.tiles.size(); ++t)
        same = same && (mine->tiles[t].empty() || mine->tiles[t] == right.tiles[t]);
    };
    const double took = seconds([&] { job->iterate(); }, make, check);
    require(same, name);
    add({name, "k tasks/s", plate::tasks / took * 1e-3});
    if (side_.size() > 1) add({name + ": sent by a rank", "KiB", side_.max(bytes) / 1024});
  }

  void ping_pong() {
    const std::string alone = "half round trip of 4 B, MPI alone";
    std::string against;
    if constexpr (requires { side_.native_round_trip(); }) {
      add({alone, "us", seconds_of_many([&] { side_.native_round_trip(); }) / 2 * 1e6});
      against = alone;
    }
    typename Side::ping_pong job(side_);
    add({"half round trip of 4 B, blocking", "us", seconds_of_many([&] { job.blocking(); }) / 2 * 1e6,
         against});
    add({"half round trip of 4 B, detached", "us",
         seconds([&] { job.detached(Side::trips); }, [] {}, [] {}) / (2 * Side::trips) * 1e6, against});
  }

  void factorization() {
    const int tiles = settings_.tiles, threads = side_.workers();
    const double flops = cholesky::operations(tiles * settings_.length) * 1e-9;
    const cholesky::matrix given = cholesky::filled(tiles, settings_.length);
    std::vector<cholesky::matrix> each(static_cast<std::size_t>(threads), given);
    const double alone = seconds(
        [&] {
          std::vector<std::jthread> workers;
          for (std::size_t t = 1; t < each.size(); ++t)
            workers.emplace_back([&, t] { cholesky::factorize(each[t], tiles); });
          cholesky::factorize(each[0], tiles);
        },
        [&] { std::fill(each.begin(), each.end(), given); }, [] {});
    const std::string by_hand = "Cholesky, its kernels alone on each worker";
    add({by_hand, "GFlop/s", side_.size() * threads * flops / alone});

    typename Side::factorization job(side_, settings_);
    const double took = seconds([&] { job.factorize(); }, [&] { job.fill(); }, [] {});
    bool same = true;
    cholesky::for_each_place(tiles, [&](cholesky::place at) {
      const double* const mine = job.tile(at);
      for (std::size_t i = 0; mine != nullptr && i < each[0][at].size(); ++i)
        same = same && std::abs(mine[i] - each[0][at][i]) <= 1e-9 * std::abs(each[0][at][i]) + 1e-12;
    });
    require(same, "Cholesky");
    add({"Cholesky", "GFlop/s", flops / took, by_hand});
  }

  void require(bool mine, const std::string& name) {
    if (side_.max(mine ? 0 : 1) > 0) throw std::runtime_error(name + ": a wrong result");
  }

  Side& side_;
  const task_settings settings_;
  std::vector<task_figure> figures_;
};

}  // namespace bench

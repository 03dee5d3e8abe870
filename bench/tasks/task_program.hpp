// SPDX-License-Identifier: Apache-2.0
//
// The command line and the output of a program that measures tasks on one side. The output is a
// table, or a line of JSON for tasks.cpp, which compares the sides.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "figures.hpp"
#include "tasks/task_jobs.hpp"

namespace bench {

inline void add_options(CLI::App& app, task_settings& s) {
  app.add_option("--budget-ms", s.budget_ms, "time for one figure, in milliseconds")
      ->check(CLI::Range(0.1, 1e6))
      ->capture_default_str();
  app.add_option("--tiles", s.tiles, "number of tiles in a row of the matrix that is factorized")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--length", s.length, "length of a row of a tile, in elements")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_flag("--cholesky,!--no-cholesky", s.cholesky, "factorize; default: if LAPACK was found");
}

struct task_program {
  explicit task_program(const std::string& about) : app(about) {
    add_options(app, settings);
    app.add_option("--workers", workers, "number of kernels at the same time on each rank")
        ->check(CLI::Range(1, 1000))
        ->capture_default_str();
    app.add_flag("--json", json, "print a line of JSON");
  }
  /// Returns the exit code if the program shall end.
  std::optional<int> parse(int argc, char** argv) {
    try {
      app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      return app.exit(error);
    }
    return std::nullopt;
  }

  template <class Side>
  void run(Side& side, const std::string& title) const {
    cholesky::one_thread_each();
    const auto figures = task_measure<Side>(side, settings).all();
    if (side.rank() != 0) return;
    if (json) {
      nlohmann::ordered_json out{{"side", title}, {"ranks", side.size()}, {"workers", workers}};
      out["figures"] = figures;
      fmt::print("{}\n", out.dump());
      return;
    }
    fmt::print("{:<52} {:>10}\n", fmt::format("{}, p = {}, workers = {}", title, side.size(), workers), "");
    for (const task_figure& f : figures) fmt::print("{:<52} {:>10} {}\n", f.name, number(f.value), f.unit);
  }

  CLI::App app;
  task_settings settings;
  int workers = 1;
  bool json = false;
};

}  // namespace bench

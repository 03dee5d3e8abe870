// SPDX-License-Identifier: Apache-2.0
//
// The results of `compare`: it collects runs of programs and prints tables and JSON.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "machine_speed.hpp"
#include "protocol.hpp"

namespace bench {

enum class family { embedded, over_mpi, native };

struct engine {
  std::string name;   // for --engines
  std::string title;  // for headings
  family kind = family::embedded;
  std::string program;   // in the folder of the driver
  std::string launcher;  // of an MPI
};

// The default engine of tutti, and the native one that each engine is compared with.
const std::vector<engine>& engines();
const engine& engine_of(const std::string& name);
std::string default_engine(int ranks, int cores);

// Returns whether there are more ranks than cores under MPICH. Its waiting ranks keep their cores
// until the scheduler preempts them.
bool waits_for_scheduler(const engine& e, int ranks, int cores);

struct case_key {
  std::string collective;
  std::size_t bytes = 0;
  auto operator<=>(const case_key&) const = default;
};

struct figure {
  double us = 0;
  double noise = 0;
  std::string algorithm;
};

// One run of one program.
struct attempt {
  int ranks = 0;
  std::string engine;
  int repeat = 0;
  double trip_before = 0;  // round_trip() before and after the run
  double trip_after = 0;
  std::map<case_key, figure> figures;
  // The distance of the cores: one value of round_trip() for all similar values. Empty if it
  // changed during the run. Set by `results`.
  std::optional<double> distance{};
};

class results {
 public:
  explicit results(int cores) : cores_(cores) {}

  void add(attempt r);
  void add(const copy_speeds& speeds);
  [[nodiscard]] bool empty() const;
  [[nodiscard]] const std::vector<attempt>& runs() const { return runs_; }

  // The distance at which most engines have a run with that number of ranks, or nothing if there is
  // none. Only figures of one distance are compared.
  [[nodiscard]] std::optional<double> common(int ranks) const;
  // The engines that have runs, but none at the common distance.
  [[nodiscard]] std::vector<std::string> missing(int ranks) const;

  void print(const options& o, const std::vector<int>& ranks) const;
  [[nodiscard]] nlohmann::ordered_json json() const;

 private:
  struct best {
    double us = 0;
    double spread = 0;  // over the runs that count; for a single run, its noise
    std::size_t runs = 0;
    std::string algorithm;
  };

  // The times of a native collective as multiples of an engine's times, over all cells.
  struct summary {
    std::size_t cells = 0;
    double geomean = 0;
    double lowest = 0;
    case_key lowest_at{};
  };

  [[nodiscard]] std::optional<summary> summary_of(int ranks, const std::string& engine,
                                                  const std::string& native) const;
  void print_summary(int ranks, const std::string& engine) const;
  void find_distances();
  void find_common();
  [[nodiscard]] bool is_comparable(const attempt& r) const;
  [[nodiscard]] std::vector<std::string> engines_at(int ranks) const;
  [[nodiscard]] std::optional<best> best_of(int ranks, const std::string& engine,
                                            const case_key& which) const;
  void print_distance(int ranks) const;
  void add_best(nlohmann::ordered_json& entry, int ranks, const std::string& engine,
                const case_key& which) const;
  void add_summaries(nlohmann::ordered_json& summaries, int ranks, const std::string& engine) const;
  [[nodiscard]] std::string rows(int ranks, const options& o, const std::optional<std::string>& tutti) const;

  int cores_;
  std::vector<attempt> runs_;
  std::map<int, double> common_;
  copy_speeds speeds_;
};

}  // namespace bench

// SPDX-License-Identifier: Apache-2.0
//
// The results of tasks.cpp: one figure for each case and side, the best of several rounds.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tasks/task_jobs.hpp"

namespace bench {

/// An engine of tutti, or another library, that runs the jobs.
struct task_side {
  std::string name;  // for --sides
  std::string title;  // for headings
  std::string program{}, launcher{};  // both empty: in this process
  std::vector<std::string> flags{};  // of the launcher
  bool peer = false;  // the others are compared with it
};
const std::vector<task_side>& task_sides();

/// The numbers of ranks and of workers.
struct task_setup {
  int ranks, workers;
  auto operator<=>(const task_setup&) const = default;
};
inline constexpr task_setup task_setups[] = {{1, 1}, {1, 2}, {2, 1}};

class task_results {
 public:
  void add(const task_side& side, const task_setup& on, const std::vector<task_figure>& figures);
  bool empty() const { return cases_.empty(); }
  void print() const;
  nlohmann::ordered_json json() const;

 private:
  struct one_case {
    task_setup on;
    std::string name, unit, against;
    std::map<std::string, double> best{};  // by the name of the side
  };
  const one_case* find(const task_setup& on, const std::string& name) const;
  std::optional<double> best(const one_case& c, const std::string& side) const;
  std::vector<task_side> present() const;
  void print_gains(const std::vector<task_side>& sides) const;

  std::vector<one_case> cases_;
};

}  // namespace bench

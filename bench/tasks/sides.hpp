// SPDX-License-Identifier: Apache-2.0
//
// What tasks.cpp has measured: a figure for each case and side, of which the best of several rounds counts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tasks/cases.hpp"

namespace bench {

/// An engine of tutti, or another library: who runs the jobs.
struct task_side {
  std::string name;                   // as in --sides
  std::string title;                  // as in a heading
  std::string program{}, launcher{};  // both empty: in this process
  std::vector<std::string> flags{};   // of the launcher
  bool peer = false;                  // what the others are compared with
};
const std::vector<task_side>& task_sides();

/// On how many ranks with how many workers.
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
    std::map<std::string, double> best{};  // by the side's name
  };
  const one_case* find(const task_setup& on, const std::string& name) const;
  std::optional<double> best(const one_case& c, const std::string& side) const;
  std::vector<task_side> present() const;
  void print_gains(const std::vector<task_side>& sides) const;

  std::vector<one_case> cases_;
};

}  // namespace bench

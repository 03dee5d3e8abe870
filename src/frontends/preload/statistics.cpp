// SPDX-License-Identifier: Apache-2.0
#include "frontends/preload/statistics.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/environment_variables.hpp"
#include "base/regular_file.hpp"
#include "base/report_text.hpp"
#include "frontends/preload/real_mpi.hpp"
#include "tutti/error.hpp"

namespace tutti::preload {

using namespace tutti::detail;

namespace {

constexpr const char* variable_name = "TUTTI_PRELOAD_STATS";

// The number of forms: each collective, blocking forms first, then nonblocking ones. For each form
// two numbers are summed: calls rerouted and calls passed to MPI.
constexpr std::size_t forms = 2 * collective_names.size();

std::string name_of_form(std::size_t form) {
  const std::string name(collective_names[form % collective_names.size()]);
  return form < collective_names.size() ? name : "i" + name;
}

std::string library_version() {
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  PMPI_Get_library_version(text, &length);
  const std::string_view all(text);  // the returned length may include the terminator
  std::string line(all.substr(0, all.find_first_of("\r\n")));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

double seconds(std::chrono::nanoseconds t) { return std::chrono::duration<double>(t).count(); }

}  // namespace

std::unique_ptr<statistics> statistics::from_environment(int rank, int ranks) {
  const auto value = setting(variable_name);
  if (!value || *value == "0") return nullptr;
  constexpr std::string_view to_file = "json:";
  const bool file = value->starts_with(to_file) && value->size() > to_file.size();
  if (*value != "1" && !file)
    throw usage_error("MPI_Init", rank, variable_name, "is \"" + echoed(*value) + "\", not 0, 1 or json:FILE",
                      "set one of these, or unset it");
  return std::unique_ptr<statistics>(
      new statistics(file ? value->substr(to_file.size()) : std::string(), rank, ranks));
}

void statistics::add(collective what, bool nonblocking, const char* algorithm, std::uint64_t bytes,
                     std::chrono::nanoseconds elapsed) {
  const std::string name(name_of(what));
  const std::lock_guard<std::mutex> held(mutex_);
  counters& l = counters_[nonblocking ? "i" + name : name];
  ++(algorithm != nullptr ? l.rerouted : l.passed);
  l.bytes += bytes;
  l.time += elapsed;
  // MPI executes native calls, except those that use the memory of the node.
  const bool in_memory = algorithm != nullptr && std::string_view(algorithm).ends_with("native");
  ++l.algorithms[in_memory ? "in_memory" : algorithm != nullptr ? algorithm : "native"];
}

void statistics::report() const {
  std::vector<std::uint64_t> mine(2 * forms), sums(mine.size());
  for (std::size_t f = 0; f < forms; ++f) {
    const auto at = counters_.find(name_of_form(f));
    if (at == counters_.end()) continue;
    mine[2 * f] = at->second.rerouted;
    mine[2 * f + 1] = at->second.passed;
  }
  real<MPI_Reduce>(mine.data(), sums.data(), static_cast<int>(mine.size()), MPI_UINT64_T, MPI_SUM, 0,
                   MPI_COMM_WORLD);
  if (rank_ != 0) return;
  std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> all;
  for (std::size_t f = 0; f < forms; ++f)
    if (sums[2 * f] + sums[2 * f + 1] != 0) all[name_of_form(f)] = {sums[2 * f], sums[2 * f + 1]};
  if (file_.empty()) {
    std::fputs(table(all).c_str(), stderr);
    return;
  }
  if (const std::string problem = write_regular_file(file_, json(all) + '\n'); !problem.empty())
    std::fprintf(stderr, "tutti preload: %s (%s)\n", problem.c_str(), variable_name);
}

std::string statistics::json(
    const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>& all) const {
  nlohmann::ordered_json collectives = nlohmann::ordered_json::object();
  for (const auto& [name, sums] : all) {
    const auto at = counters_.find(name);
    const counters local = at == counters_.end() ? counters{} : at->second;
    collectives[name] = {
        {"rerouted", local.rerouted},     {"passed", local.passed},
        {"bytes", local.bytes},           {"seconds", seconds(local.time)},
        {"algorithms", local.algorithms}, {"all_ranks", {{"rerouted", sums.first}, {"passed", sums.second}}}};
  }
  const nlohmann::ordered_json document = {{"schema", "tutti/preload/1"},
                                           {"mpi", TUTTI_MPI_NAME},
                                           {"library", library_version()},
                                           {"ranks", ranks_},
                                           {"collectives", collectives}};
  return document.dump(2);
}

std::string statistics::table(
    const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>>& all) const {
  std::vector<std::vector<std::string>> rows = {
      {"collective", "rerouted", "passed", "bytes", "seconds", "all ranks", "algorithms"}};
  for (const auto& [name, sums] : all) {
    const auto at = counters_.find(name);
    const counters l = at == counters_.end() ? counters{} : at->second;
    std::string ran;
    for (const auto& [algorithm, times] : l.algorithms)
      ran += (ran.empty() ? "" : ", ") + algorithm + " " + std::to_string(times);
    char elapsed[32];
    std::snprintf(elapsed, sizeof elapsed, "%.6f", seconds(l.time));
    rows.push_back({name, std::to_string(l.rerouted), std::to_string(l.passed), std::to_string(l.bytes),
                    elapsed, std::to_string(sums.first) + " + " + std::to_string(sums.second), ran});
  }
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  std::string text = "tutti preload: " + library_version() + ", " + std::to_string(ranks_) +
                     " ranks; calls of rank 0, and of all ranks (rerouted + passed)\n";
  for (const auto& row : rows) {
    std::string one = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string gap(widths[i] - row[i].size(), ' ');
      const bool left = i == 0 || i + 1 == row.size();
      one += " " + (left ? row[i] + gap : gap + row[i]) + " ";
    }
    one.erase(one.find_last_not_of(' ') + 1);
    text += one + '\n';
  }
  return text;
}

}  // namespace tutti::preload

// SPDX-License-Identifier: Apache-2.0
#include "preload_gain/jobs.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "compare/process.hpp"
#include "machine_speed.hpp"
#include "runtime/launch/modules.hpp"

namespace bench {
namespace {

namespace fs = std::filesystem;

std::string program_of(const std::string& mpi) {
  return (fs::read_symlink("/proc/self/exe").parent_path() / ("native_" + mpi)).string();
}

const char* title_of(variant v) {
  switch (v) {
    case variant::without:
      return "without";
    case variant::with:
      return "with";
    case variant::tuned:
      return "with the tree";
    case variant::again:
      return "without, again";
  }
  return "";
}

bool uses_library(variant v) { return v == variant::with || v == variant::tuned; }

// A job that is timed, or one that counts which algorithms run. They are separate, because counting
// takes time.
class job {
 public:
  job(const preload_settings& s, const preload_mpi& mpi, variant v) : settings_(s), mpi_(mpi), variant_(v) {}

  [[nodiscard]] child_result run(const options& o, const std::string& statistics = "") const {
    environment variables{{"LD_PRELOAD", std::nullopt},
                          {"TUTTI_PRELOAD_STATS", std::nullopt},
                          {"TUTTI_COLL_SELECTION_JSON_FILE", std::nullopt}};
    auto words = launcher_command(mpi_.launcher, settings_.ranks, variables);
    if (uses_library(variant_)) {  // set for the ranks, not for the launcher
      if (mpi_.name == "openmpi")
        words.insert(words.end(), {"-x", "LD_PRELOAD=" + mpi_.library});
      else
        words.insert(words.begin() + 1, {"-genv", "LD_PRELOAD", mpi_.library});
    }
    if (variant_ == variant::tuned)
      variables.emplace_back("TUTTI_COLL_SELECTION_JSON_FILE", fs::absolute(settings_.tree).string());
    if (!statistics.empty()) variables.emplace_back("TUTTI_PRELOAD_STATS", "json:" + statistics);
    words.push_back(program_of(mpi_.name));
    for (const auto& word : arguments(o)) words.push_back(word);
    return run_child(words, variables, seconds(settings_.timeout_s));
  }

  [[nodiscard]] std::string label() const { return fmt::format("{}, {}", mpi_.title, title_of(variant_)); }

 private:
  const preload_settings& settings_;
  const preload_mpi& mpi_;
  variant variant_;
};

// Reports each of tutti's warnings about variables and trees once.
void print_warnings(const std::string& output, progress& log) {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with("tutti") || line.starts_with("  ")) log.report_once(line);
}

void print_outcome(const job& j, const child_result& child, double limit, progress& log) {
  if (child.timed_out)
    log.report(fmt::format("{}: ended after {} s", j.label(), limit));
  else if (child.status != 0)
    log.report(fmt::format("{}: ended with status {}\n{}", j.label(), child.status, child.err));
  else
    print_warnings(child.err, log);
}

// Reads cases of several sizes. Collectives without a size use the first one.
void read_lines(const std::string& out, int ranks, const job& j, variant v,
                std::map<preload_case, preload_figures>& into, progress& log) {
  std::istringstream lines(out);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() != '{') continue;
    const auto record = nlohmann::json::parse(line, nullptr, false);
    if (record.is_discarded()) {
      log.report(fmt::format("{}: a line that is not a result: {}", j.label(), line));
    } else if (record.at("ranks").get<int>() != ranks) {
      log.report_once(fmt::format("{}: ran with {} ranks", j.label(), record.at("ranks").get<int>()));
    } else if (record.contains("error")) {
      log.report(fmt::format("{}: {}: {}", j.label(), line, record["error"].get<std::string>()));
    } else {
      auto& us = into[{record.at("collective").get<std::string>(), record.at("bytes").get<std::size_t>()}].us;
      const double now = record.at("us").get<double>();
      us[v] = us.count(v) != 0 ? std::min(us[v], now) : now;
    }
  }
}

// Reads which algorithms ran for one size: "native" if all calls were forwarded.
void read_statistics(const std::string& file, std::size_t bytes, variant v,
                     std::map<preload_case, preload_figures>& into) {
  const auto all = nlohmann::json::parse(std::ifstream(file), nullptr, false);
  if (all.is_discarded()) return;
  for (const auto& [name, one] : all.at("collectives").items()) {
    std::vector<std::string> ran;
    for (const auto& [algorithm, times] : one.at("algorithms").items())
      ran.push_back(algorithm.substr(algorithm.find('/') + 1));
    const auto at = into.find({name, name == "barrier" ? 0 : bytes});
    if (at != into.end()) at->second.ran[v] = joined(ran);
  }
}

}  // namespace

std::vector<preload_mpi> find_mpis(progress& log) {
  std::vector<preload_mpi> all;
  for (const auto& [name, title] : {std::pair{"openmpi", "Open MPI"}, std::pair{"mpich", "MPICH"}}) {
    const std::string launcher = std::string("mpirun.") + name,
                      file = std::string("libtutti-preload-") + name + ".so";
    std::string library;
    for (const std::string& folder : tutti::detail::module_folders())
      if (library.empty() && access((folder + "/" + file).c_str(), R_OK) == 0) library = folder + "/" + file;
    if (library.empty())
      log.report(fmt::format("{} is skipped: there is no {}", title, file));
    else if (access(program_of(name).c_str(), X_OK) != 0)
      log.report(fmt::format("{} is skipped: native_{} is not in the folder of this program", title, name));
    else if (!in_path(launcher))
      log.report(fmt::format("{} is skipped: {} was not found", title, launcher));
    else
      all.push_back({name, title, launcher, fs::absolute(library).string()});
  }
  return all;
}

preload_results run_jobs(const preload_settings& s, const std::vector<preload_mpi>& mpis, progress& log) {
  std::vector<variant> order{variant::without, variant::with, variant::again};
  if (!s.tree.empty()) order.push_back(variant::tuned);
  preload_results all;
  // With more ranks than cores, ranks wait for the scheduler, under MPICH for whole slices.
  // Measuring longer does not help.
  const bool crowded = s.ranks > static_cast<int>(usable_cores().size());
  for (int turn = 0; turn < s.repeat; ++turn) {
    for (const preload_mpi& mpi : mpis)
      for (const variant v : order) {
        const job j(s, mpi, v);
        log.step(fmt::format("{} (round {} of {})", j.label(), turn + 1, s.repeat));
        options o = s.measure;
        if (crowded && mpi.name == "mpich") o.budget_ms /= 10;
        const child_result child = j.run(o);
        print_outcome(j, child, s.timeout_s, log);
        read_lines(child.out, s.ranks, j, v, all[mpi.name], log);
      }
    std::rotate(order.begin(), order.begin() + 1, order.end());
  }
  const fs::path file = fs::temp_directory_path() / fmt::format("tutti-preload-{}.json", getpid());
  for (const preload_mpi& mpi : mpis)
    for (const variant v : order) {
      if (!uses_library(v)) continue;
      for (const std::size_t bytes : s.measure.sizes) {
        options o = s.measure;
        o.sizes = {bytes};
        o.budget_ms = 0.1;
        const job j(s, mpi, v);
        log.step(fmt::format("{}: what runs at {} bytes", j.label(), bytes));
        print_outcome(j, j.run(o, file.string()), s.timeout_s, log);
        read_statistics(file.string(), bytes, v, all[mpi.name]);
        fs::remove(file);
      }
    }
  log.clear();
  return all;
}

}  // namespace bench

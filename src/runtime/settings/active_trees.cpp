// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings/active_trees.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "selection/tree_text.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

constexpr struct {
  const char* variable;
  tree_half half;
} files[] = {{"TUTTI_COLL_COMPOSITION_JSON_FILE", tree_half::composition},
             {"TUTTI_COLL_SELECTION_JSON_FILE", tree_half::pure}};

const char* noun_of(tree_half half) noexcept {
  return half == tree_half::pure ? "pure algorithms" : "compositions";
}

// One of the processes of a launcher reports, because all have the same variables.
bool reports_here() noexcept {
  for (const char* rank : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (const char* value = secure_getenv(rank)) return std::string_view(value) == "0";
  return true;
}

void report(const std::string& variable, const std::string& text) {
  if (reports_here()) std::fprintf(stderr, "tutti: %s: %s\n", variable.c_str(), text.c_str());
}

// The contents of a tree file. If the file has errors, reports them and returns no regions.
read_result read_file(const std::string& variable, const std::string& path, bool is_default = false) {
  const bool strict = switch_setting("TUTTI_COLL_STRICT", false);
  const auto [text, unreadable] = read_tree_text(path);
  std::string problem = unreadable;
  read_result result;
  if (problem.empty()) {
    result = read_tree(text, path);
    for (const fault& f : result.faults) problem += (problem.empty() ? "" : "\n  ") + f.text();
  }
  if (problem.empty()) return result;
  if (strict)
    throw usage_error("run", -1, variable, problem,
                      is_default ? "correct the file (tutti validate FILE), or set TUTTI_TREES=none"
                                 : "correct the file (tutti validate FILE), or unset the variable");
  report(variable, "the default trees are used, because\n  " + problem);
  result = {};
  result.faults.push_back({path, "", 1, problem, ""});
  return result;
}

bool is_other_half_read(tree_half half, const std::string& path, const std::string& both) {
  const auto is_same = [&](const std::string& other) {
    std::error_code missing;
    return other == path || std::filesystem::equivalent(other, path, missing);
  };
  if (is_same(both)) return true;
  for (const auto& [variable, other] : files) {
    const auto named = setting(variable);
    if (other != half && named && is_same(*named)) return true;
  }
  return false;
}

// Only this half of the file's contents. Reports contents that no variable reads.
document read_half(const char* variable, tree_half half, const std::string& path, const std::string& both) {
  read_result result = read_file(variable, path);
  const tree_half other = half == tree_half::pure ? tree_half::composition : tree_half::pure;
  (half == tree_half::pure ? result.made.composition : result.made.pure) = {};
  if (!result.good()) return std::move(result.made);
  const auto& tree = result.made.of(half);
  if (std::all_of(tree.begin(), tree.end(), [](const auto& regions) { return regions.empty(); }))
    report(variable, echoed(path) + " has no trees of " + noun_of(half));
  if (result.has_half[static_cast<std::size_t>(other)] && !is_other_half_read(half, path, both))
    report(variable, "the trees of " + std::string(noun_of(other)) + " in " + echoed(path) +
                         " are not read by this variable; TUTTI_TREES=" + echoed(path) +
                         " reads all trees of it");
  return std::move(result.made);
}

}  // namespace

trees_file user_trees() {
  if (const auto named = setting("TUTTI_TREES")) return {*named == "none" ? "" : *named, false};
  const char *config = secure_getenv("XDG_CONFIG_HOME"), *home = secure_getenv("HOME");
  std::string folder;
  if (config != nullptr && *config == '/')
    folder = config;
  else if (home != nullptr && *home == '/')
    folder = std::string(home) + "/.config";
  else
    return {};
  const std::string path = folder + "/tutti/trees.json";
  return access(path.c_str(), F_OK) == 0 ? trees_file{path, true} : trees_file{};
}

std::shared_ptr<const document> load_trees(std::string_view builtin) {
  document all = builtin_document(builtin);
  const trees_file both = user_trees();
  if (!both.path.empty())
    all = overlay(
        all, read_file(both.is_default ? "TUTTI_TREES is not set" : "TUTTI_TREES", both.path, both.is_default)
                 .made);
  for (const auto& [variable, half] : files)
    if (const auto path = setting(variable)) all = overlay(all, read_half(variable, half, *path, both.path));
  return std::make_shared<const document>(std::move(all));
}

std::uint32_t engine_conditions_of(const document& trees, const endpoint& ep, bool report_unknown) {
  if (report_unknown)
    for (const std::string& name : unregistered(trees, ep.conditions()))
      std::fprintf(stderr,
                   "tutti: the trees test \"%s\", which the engine %s does not know: it counts as false\n",
                   echoed(name).c_str(), std::string(ep.engine()).c_str());
  return engine_bits(trees, ep.conditions());
}

}  // namespace tutti::detail

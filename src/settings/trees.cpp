// SPDX-License-Identifier: Apache-2.0
#include "settings/trees.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

#include "core/environment.hpp"
#include "select/tree_text.hpp"
#include "tutti/core/error.hpp"

namespace tutti::detail {
namespace {

constexpr struct {
  const char* variable;
  tree_half half;
} files[] = {{"TUTTI_COLL_COMPOSITION_JSON_FILE", tree_half::composition},
             {"TUTTI_COLL_SELECTION_JSON_FILE", tree_half::pure}};

// What the file says of this half; empty where it is at fault.
document read_half(const char* variable, tree_half half, const std::string& path) {
  const bool strict = switch_setting("TUTTI_COLL_STRICT", false);
  const auto [text, unreadable] = read_tree_text(path);
  std::string problem = unreadable;
  document made;
  if (problem.empty()) {
    read_result got = read_tree(text, path);
    for (const fault& f : got.faults) problem += (problem.empty() ? "" : "\n  ") + f.text();
    if (got.good()) made = std::move(got.made);
  }
  if (!problem.empty()) {
    if (strict)
      throw usage_error("run", -1, variable, problem,
                        "mend the file (tutti validate FILE), or unset the variable");
    std::fprintf(stderr, "tutti: %s: the default trees are used, since\n  %s\n", variable, problem.c_str());
  }
  (half == tree_half::pure ? made.composition : made.pure) = {};
  const auto& tree = made.of(half);
  if (problem.empty() &&
      std::all_of(tree.begin(), tree.end(), [](const auto& regions) { return regions.empty(); }))
    std::fprintf(stderr, "tutti: %s: %s says nothing of %s\n", variable, path.c_str(),
                 half == tree_half::pure ? "pure algorithms" : "compositions");
  return made;
}

}  // namespace

std::shared_ptr<const document> load_trees(std::string_view engine) {
  document all = builtin_document(engine);
  for (const auto& [variable, half] : files)
    if (const auto path = setting(variable)) all = overlay(all, read_half(variable, half, *path));
  return std::make_shared<const document>(std::move(all));
}

std::uint32_t engine_conditions_of(const document& trees, const endpoint& door, bool say) {
  if (say)
    for (const std::string& name : unregistered(trees, door.conditions()))
      std::fprintf(stderr,
                   "tutti: the trees ask for \"%s\", which the engine %s does not know: it counts as false\n",
                   name.c_str(), std::string(door.engine()).c_str());
  return engine_bits(trees, door.conditions());
}

std::uint64_t hash_of(const document& trees) {
  std::uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const unsigned char c : write_tree(trees)) hash = (hash ^ c) * 1099511628211u;
  return hash;
}

}  // namespace tutti::detail

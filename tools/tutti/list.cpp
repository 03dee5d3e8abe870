// SPDX-License-Identifier: Apache-2.0
//
// tutti list: the algorithms, what they demand and what they cost.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "algorithms_document.hpp"
#include "subcommands.hpp"
#include "text.hpp"

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;
using algorithms = std::vector<const pure_algorithm*>;

json to_json(const pure_algorithm& a) {
  json restrictions = json::array(), parameters = json::array();
  for (const auto& [bit, name] : restriction_names)
    if (demands(a.needs, bit)) restrictions.push_back(name);
  for (const knob_range& k : a.parameters)
    parameters.push_back({{"name", name_of(k.which)},
                          {"default", k.usual},
                          {"least", k.least},
                          {"most", k.most},
                          {"what", k.what}});
  return {{"name", a.name},           {"kind", "pure"},
          {"source", a.source},       {"restrictions", restrictions},
          {"parameters", parameters}, {"rounds", a.rounds},
          {"bytes", a.bytes},         {"scratch", a.scratch},
          {"idea", a.idea},           {"good_for", a.good_for}};
}

// Columns as wide as what stands in them, but formulas that would push the others off the screen are cut.
void print_table(const algorithms& all) {
  constexpr std::size_t widest = 36;
  using row = std::vector<std::string>;
  std::vector<row> rows{{"name", "restrictions", "parameters", "rounds", "bytes", "source"}};
  bool any_cut = false;
  const auto cut = [&](std::string_view text) {
    if (text.size() <= widest) return std::string(text);
    any_cut = true;
    return std::string(text.substr(0, widest - 3)) + "...";
  };
  for (const pure_algorithm* a : all) {
    std::string parameters;
    for (const knob_range& k : a->parameters)
      parameters += fmt::format("{}{}={}", parameters.empty() ? "" : ",", name_of(k.which), k.usual);
    rows.push_back({std::string(a->name), restrictions_of(*a, "-"), parameters.empty() ? "-" : parameters,
                    cut(a->rounds), cut(a->bytes), std::string(a->source)});
  }
  std::vector<std::size_t> widths(rows[0].size());
  for (const row& r : rows)
    for (std::size_t i = 0; i < r.size(); ++i) widths[i] = std::max(widths[i], r[i].size());
  for (const row& r : rows) {
    for (std::size_t i = 0; i + 1 < r.size(); ++i) fmt::print("{:<{}}  ", r[i], widths[i]);
    fmt::print("{}\n", r.back());
  }
  fmt::print("\n{} algorithm{}{}\n", all.size(), all.size() == 1 ? "" : "s",
             any_cut ? "; --long shows what is cut off" : "");
}

void print_long(const pure_algorithm& a) {
  const auto line = [](std::string_view what, std::string_view text) {
    constexpr std::size_t indent = 17;
    fmt::print("  {:<15}{}", what, wrapped(text, indent).substr(indent));
  };
  fmt::print("{}\n\n{}\n", a.name, wrapped(a.idea, 2));
  line("source", a.source);
  line("restrictions", restrictions_of(a, "none"));
  if (a.parameters.empty()) line("parameters", "none");
  for (const knob_range& k : a.parameters)
    line(&k == a.parameters.data() ? "parameters" : "",
         fmt::format("{} = {} in {}..{}: {}", name_of(k.which), k.usual, k.least, k.most, k.what));
  line("rounds", a.rounds);
  line("bytes", a.bytes);
  line("scratch", a.scratch);
  line("good for", a.good_for);
}

struct wishes {
  std::string which;
  bool as_json = false, as_markdown = false, in_full = false;
};

int list_algorithms(const wishes& wish) {
  algorithms all;
  for (const pure_algorithm* a : catalogue())
    if (wish.which.empty() || name_of(a->what) == wish.which || a->name == wish.which) all.push_back(a);
  if (all.empty() && !wish.which.empty()) {
    const bool one = wish.which.find('/') != wish.which.npos;
    const bool known =
        std::find(collective_names.begin(), collective_names.end(), wish.which) != collective_names.end();
    if (!known) {
      fmt::print(stderr, "tutti list: there is no {} \"{}\"; did you mean \"{}\"?\n",
                 one ? "algorithm" : "collective", wish.which,
                 one ? nearest_algorithm(wish.which) : nearest_collective(wish.which));
      return 2;
    }
  }
  if (wish.as_markdown) {
    fmt::print("{}", algorithms_document(all));
  } else if (wish.as_json) {
    json array = json::array();
    for (const pure_algorithm* a : all) array.push_back(to_json(*a));
    fmt::print("{}\n", array.dump(2));
  } else if (wish.in_full) {
    for (const pure_algorithm* a : all) {
      if (a != all.front()) fmt::print("\n");
      print_long(*a);
    }
  } else {
    print_table(all);
  }
  return 0;
}

}  // namespace

void add_list(CLI::App& app, int& status) {
  auto* list = app.add_subcommand("list", "The algorithms: restrictions, parameters, costs, sources");
  auto wish = std::make_shared<wishes>();
  list->add_option("which", wish->which,
                   "Only those of this collective, as allreduce, or one: allreduce/ring");
  list->add_flag("--long", wish->in_full, "All that the head of each algorithm's file says");
  auto* as_json = list->add_flag("--json", wish->as_json, "An array of objects");
  list->add_flag("--markdown", wish->as_markdown, "As docs/algorithms.md")->excludes(as_json);
  list->footer(
      "Rounds and bytes are formulas of the ranks p, the bytes n of a vector and b of a block, and the\n"
      "parameters; docs/algorithms.md says more. `tutti show` evaluates them for a call.\n\n"
      "Examples:\n  tutti list\n  tutti list allgather\n  tutti list allreduce/ring --long\n"
      "  tutti list --json | jq -r '.[] | select(.restrictions == []) | .name'\n");
  list->callback([wish, &status] { status = list_algorithms(*wish); });
}

}  // namespace tutti::tool

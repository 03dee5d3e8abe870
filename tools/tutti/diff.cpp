// SPDX-License-Identifier: Apache-2.0
//
// tutti diff: finds the calls for which two decision trees choose differently.
#include <memory>
#include <string>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "engines/engine_table.hpp"
#include "selection/suggestion.hpp"
#include "subcommands.hpp"
#include "tree_words.hpp"

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;

struct diff_options {
  std::string first, second, engine;
  bool as_json = false;
};

json as_json(const literals& some, std::span<const declared_condition> declared) {
  json all = json::object();
  for_each_condition(
      some.mask, [&](condition c) { all[std::string(name_of(c, declared))] = (some.values & bit(c)) != 0; });
  return all;
}
json as_json(const leaf& l) {
  json one = {{"use", name_of(l)}, {"with", json::object()}};
  if (const catalogue_entry* const entry = l.named())
    for (const algorithm_parameter_range& p : entry->parameters)
      one["with"][std::string(name_of(p.which))] = l.parameter_values()[static_cast<std::size_t>(p.which)];
  one["file"] = l.from.file == nullptr ? "" : l.from.file->name;
  one["line"] = l.from.line;
  return one;
}

std::string calls_of(const difference& d, std::span<const declared_condition> declared) {
  std::string text = words_for(d.within, d.what);
  const std::string conditions = words_for(d.when, declared);
  if (!conditions.empty()) text += (text.empty() ? "" : "; ") + conditions;
  if (text.empty()) text = "every call";
  for (const literals& one : d.except) text += "; not: " + words_for(one, declared);
  return text;
}

json as_json(const comparison& all) {
  json list = json::array();
  for (const difference& d : all.differences) {
    json ranges = json::object();
    const value_ranges any = all_values(d.what);
    for (const quantity_entry& q : quantities()) {
      const auto i = static_cast<std::size_t>(q.which);
      if (d.within[i] == any[i]) continue;
      json one = {{"from", d.within[i].min}};
      if (d.within[i].max != tree_step::open) one["upto"] = d.within[i].max;
      ranges[std::string(q.name)] = one;
    }
    json except = json::array();
    for (const literals& one : d.except) except.push_back(as_json(one, all.conditions));
    list.push_back({{"tree", d.half == tree_half::pure ? "pure" : "composition"},
                    {"collective", name_of(d.what)},
                    {"when", as_json(d.when, all.conditions)},
                    {"except", except},
                    {"ranges", ranges},
                    {"words", calls_of(d, all.conditions)},
                    {"a", as_json(d.first)},
                    {"b", as_json(d.second)}});
  }
  return list;
}

void print(const comparison& all, const diff_options& options) {
  const std::size_t width = std::max(options.first.size(), options.second.size()) + 1;
  const difference* before = nullptr;
  for (const difference& d : all.differences) {
    if (before == nullptr || before->what != d.what || before->half != d.half)
      fmt::print("{}{}{}\n", before == nullptr ? "" : "\n", name_of(d.what),
                 d.half == tree_half::pure ? "" : ", composition");
    before = &d;
    fmt::print("  {}\n", calls_of(d, all.conditions));
    for (const auto& [name, chosen] : {std::pair(&options.first, &d.first), {&options.second, &d.second}})
      fmt::print("    {:<{}} {} ({})\n", *name + ":", width, words_for(*chosen), place_of(chosen->from));
  }
  if (before == nullptr)
    fmt::print("{} and {} choose the same for every call\n", options.first, options.second);
}

int run(const diff_options& options) {
  if (!options.engine.empty() && !is_engine(options.engine)) {
    fmt::print(stderr, "tutti diff: there is no engine {}; there are {}\n", detail::quoted(options.engine),
               engine_names("and"));
    return 2;
  }
  // If a file makes no choice, the engine's own trees decide.
  const std::string engine = !options.engine.empty()     ? options.engine
                             : is_engine(options.first)  ? options.first
                             : is_engine(options.second) ? options.second
                                                         : default_engine();
  int status = 0;
  const auto load = [&](const std::string& name) -> std::optional<document> {
    std::optional<document> one = load_tree("diff", name, status);
    if (!one || is_engine(name)) return one;
    return overlay(builtin_document(engine), *one);
  };
  const std::optional<document> first = load(options.first), second = load(options.second);
  if (!first || !second) return status;
  const comparison all = compare(*first, *second);
  if (options.as_json)
    fmt::print("{}\n", as_json(all).dump(2, ' ', false, json::error_handler_t::replace));
  else
    print(all, options);
  return all.differences.empty() ? 0 : 1;
}

}  // namespace

void add_diff(CLI::App& app, int& status) {
  auto* diff = app.add_subcommand("diff", "For which calls two decision trees choose differently");
  auto options = std::make_shared<diff_options>();
  diff->add_option("A", options->first, fmt::format("A file, or built-in trees: {}", names_of_trees()))
      ->required();
  diff->add_option("B", options->second, "Another")->required();
  diff->add_option("--engine", options->engine,
                   "The engine whose trees decide what a file leaves open; default: that of A or B, or " +
                       default_engine());
  diff->add_flag("--json", options->as_json, "An array of differences");
  diff->footer(
      "Status 0: they choose the same for every call; 1: they do not; 2: one of them cannot be read or is\n"
      "invalid (see tutti validate).\n"
      "Examples:\n"
      "  tutti diff threads fibers | head -5\n"
      "  tutti diff mpi mine.json --json\n");
  diff->callback([options, &status] { status = run(*options); });
}

}  // namespace tutti::tool

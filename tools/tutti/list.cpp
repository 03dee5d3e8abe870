// SPDX-License-Identifier: Apache-2.0
//
// tutti list: lists the algorithms with their restrictions and costs, and the compositions with
// their inner calls.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "algorithms_document.hpp"
#include "parameters_document.hpp"
#include "subcommands.hpp"
#include "text.hpp"

namespace tutti::tool {
namespace {

using json = nlohmann::ordered_json;
using algorithms = std::vector<const pure_algorithm*>;
using compositions = std::vector<const composed_algorithm*>;

// The fields that algorithms and compositions have in common.
json to_json(const catalogue_entry& e, std::string_view kind) {
  json restrictions = json::array(), parameters = json::array();
  for (const restriction_name& one : restriction_names)
    if (has_restriction(e.restrictions, one.which)) restrictions.push_back(one.name);
  for (const algorithm_parameter_range& k : e.parameters)
    parameters.push_back({{"name", name_of(k.which)},
                          {"default", k.default_value},
                          {"min", k.min},
                          {"max", k.max},
                          {"what", k.what}});
  return {{"name", e.name},
          {"kind", kind},
          {"source", e.source},
          {"restrictions", restrictions},
          {"reach", name_of(e.reach_with(e.default_values()))},
          {"parameters", parameters}};
}

json to_json(const pure_algorithm& a) {
  json j = to_json(a, "pure");
  j.update(json{{"rounds", a.rounds},
                {"bytes", a.bytes},
                {"scratch", a.scratch},
                {"idea", a.idea},
                {"good_for", a.good_for},
                {"environment", setting_for(a)}});
  return j;
}

json to_json(const composed_algorithm& c) {
  json j = to_json(c, "composition");
  j.update(
      json{{"calls", c.calls}, {"idea", c.idea}, {"good_for", c.good_for}, {"environment", setting_for(c)}});
  return j;
}

// Columns are as wide as their contents, except that long texts are cut. If the terminal is still
// too narrow, the last columns are omitted. The first column, the name, always stays.
class table {
 public:
  using row = std::vector<std::string>;
  explicit table(row head) : rows_{std::move(head)} {}

  void add(row r) { rows_.push_back(std::move(r)); }
  bool any_cut() const noexcept { return any_cut_; }

  void print(std::size_t columns) {
    const std::vector<std::size_t> widths = widths_for(columns);
    for (const row& r : rows_) {
      for (std::size_t i = 0; i < widths.size(); ++i) {
        const std::string text = cut(r[i], widths[i]);
        if (i + 1 < widths.size())
          fmt::print("{:<{}}  ", text, widths[i]);
        else
          fmt::print("{}\n", text);
      }
    }
  }

 private:
  static constexpr std::size_t max_cell = 36, min_cell = 12;

  std::string cut(const std::string& text, std::size_t width) {
    if (text.size() <= width) return text;
    any_cut_ = true;
    return text.substr(0, width - 3) + "...";
  }
  std::vector<std::size_t> widths_for(std::size_t columns) {
    std::vector<std::size_t> natural(rows_[0].size());
    for (const row& r : rows_)
      for (std::size_t i = 0; i < r.size(); ++i) natural[i] = std::max(natural[i], r[i].size());
    if (columns == 0) {  // only formulas are cut
      for (std::size_t i = 3; i + 1 < natural.size(); ++i) natural[i] = std::min(natural[i], max_cell);
      return natural;
    }
    for (std::size_t shown = natural.size(); shown > 1; --shown)
      for (std::size_t cell = max_cell; cell >= min_cell; --cell) {
        std::vector<std::size_t> widths(natural.begin(),
                                        natural.begin() + static_cast<std::ptrdiff_t>(shown));
        std::size_t all = natural[0];
        for (std::size_t i = 1; i < shown; ++i) all += 2 + (widths[i] = std::min(natural[i], cell));
        if (all > columns) continue;
        any_cut_ = any_cut_ || shown < natural.size();
        return widths;
      }
    any_cut_ = true;
    return {std::min(natural[0], columns)};
  }

  std::vector<row> rows_;
  bool any_cut_ = false;
};

std::string parameters_of(const catalogue_entry& e) {
  std::string all;
  for (const algorithm_parameter_range& k : e.parameters)
    all += fmt::format("{}{}={}", all.empty() ? "" : ",", name_of(k.which), k.default_value);
  return all.empty() ? "-" : all;
}

void print_tables(const algorithms& pure, const compositions& composed) {
  const auto count = [](std::size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  const std::size_t columns = columns_of_output();
  bool any_cut = false;
  if (!pure.empty() || composed.empty()) {
    table t({"name", "restrictions", "parameters", "rounds", "bytes", "source"});
    for (const pure_algorithm* a : pure)
      t.add({std::string(a->name), restrictions_of(*a, "-"), parameters_of(*a), std::string(a->rounds),
             std::string(a->bytes), std::string(a->source)});
    t.print(columns);
    any_cut = t.any_cut();
  }
  if (!composed.empty()) {
    table t({"composition", "restrictions", "parameters", "calls", "source"});
    for (const composed_algorithm* c : composed)
      t.add({std::string(c->name), restrictions_of(*c, "-"), parameters_of(*c), std::string(c->calls),
             std::string(c->source)});
    if (!pure.empty()) fmt::print("\n");
    t.print(columns);
    any_cut = any_cut || t.any_cut();
  }
  const std::string counts =
      fmt::format("{}{}{}{}", composed.empty() || !pure.empty() ? count(pure.size(), "algorithm") : "",
                  composed.empty() || pure.empty() ? "" : ", ",
                  composed.empty() ? "" : count(composed.size(), "composition"),
                  any_cut ? "; --long shows all of it" : "");
  fmt::print("\n{}", wrapped(counts, 0));
}

void print_line(std::string_view what, std::string_view text) {
  constexpr std::size_t indent = 17;
  fmt::print("  {:<15}{}", what, wrapped(text, indent).substr(indent));
}

void print_head(const catalogue_entry& e) {
  fmt::print("{}\n\n{}\n", e.name, wrapped(e.idea, 2));
  print_line("source", e.source);
  print_line("restrictions", restrictions_of(e, "none"));
  if (e.parameters.empty()) print_line("parameters", "none");
  for (const algorithm_parameter_range& k : e.parameters)
    print_line(&k == e.parameters.data() ? "parameters" : "",
               fmt::format("{} = {} in {}..{}: {}", name_of(k.which), k.default_value, k.min, k.max, k.what));
}

void print_long(const pure_algorithm& a) {
  print_head(a);
  print_line("rounds", a.rounds);
  print_line("bytes", a.bytes);
  print_line("scratch", a.scratch);
  print_line("good for", a.good_for);
  print_line("environment", setting_for(a));
}

void print_long(const composed_algorithm& c) {
  print_head(c);
  print_line("calls", c.calls);
  print_line("good for", c.good_for);
  print_line("environment", setting_for(c));
}

struct list_options {
  std::string which;
  bool as_json = false, as_markdown = false, in_full = false, parameters = false;
};

int list_algorithms(const list_options& options) {
  if (options.parameters) {
    fmt::print("{}", wrapped_markdown(parameters_document()));
    return 0;
  }
  algorithms pure;
  compositions composed;
  const auto is_selected = [&](const catalogue_entry& e) {
    return options.which.empty() || name_of(e.what) == options.which || e.name == options.which;
  };
  for (const pure_algorithm* a : catalogue())
    if (is_selected(*a)) pure.push_back(a);
  for (const composed_algorithm* c : composition_catalogue())
    if (is_selected(*c)) composed.push_back(c);
  if (pure.empty() && composed.empty() && !options.which.empty()) {
    const bool one = options.which.find('/') != options.which.npos;
    const bool known =
        std::find(collective_names.begin(), collective_names.end(), options.which) != collective_names.end();
    if (!known) {
      fmt::print(stderr, "tutti list: there is no {} {}; {}\n", one ? "algorithm" : "collective",
                 detail::quoted(options.which),
                 one ? suggest_algorithm(options.which) : suggest_any(options.which));
      return 2;
    }
  }
  if (options.as_markdown) {
    fmt::print("{}", wrapped_markdown(algorithms_document(pure, composed)));
  } else if (options.as_json) {
    json array = json::array();
    for (const pure_algorithm* a : pure) array.push_back(to_json(*a));
    for (const composed_algorithm* c : composed) array.push_back(to_json(*c));
    fmt::print("{}\n", array.dump(2));
  } else if (options.in_full) {
    bool first = true;
    const auto print = [&](const auto& all) {
      for (const auto* one : all) {
        if (!std::exchange(first, false)) fmt::print("\n");
        print_long(*one);
      }
    };
    print(pure);
    print(composed);
  } else {
    print_tables(pure, composed);
  }
  return 0;
}

}  // namespace

void add_list(CLI::App& app, int& status) {
  auto* list =
      app.add_subcommand("list", "The algorithms and compositions: restrictions, parameters, costs, sources");
  auto options = std::make_shared<list_options>();
  list->add_option("which", options->which,
                   "Only those of one collective, such as allreduce, or one algorithm: allreduce/ring");
  list->add_flag("--long", options->in_full,
                 "All entries of the head of each file, and the variable that selects it");
  auto* as_json = list->add_flag("--json", options->as_json, "An array of objects");
  list->add_flag("--markdown", options->as_markdown, "As docs/algorithms.md")->excludes(as_json);
  list->add_flag("--parameters", options->parameters, "The named parameters of calls, as docs/parameters.md")
      ->excludes(as_json);
  list->footer(
      "Rounds and bytes are formulas of the ranks p, the bytes n of a vector and b of a block, and the\n"
      "parameters; docs/algorithms.md explains them. `tutti show` evaluates them for a call.\n\n"
      "Examples:\n  tutti list\n  tutti list allgather\n  tutti list allreduce/ring --long\n"
      "  tutti list allreduce/reduce_bcast --long\n"
      "  tutti list --json | jq -r '.[] | select(.restrictions == []) | .name'\n");
  list->callback([options, &status] { status = list_algorithms(*options); });
}

}  // namespace tutti::tool

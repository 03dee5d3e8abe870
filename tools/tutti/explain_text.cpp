// SPDX-License-Identifier: Apache-2.0
//
// Writes the result of `tutti explain` as text: the call, the path through both trees, the choice,
// the alternatives.
#include <algorithm>

#include <fmt/core.h>

#include "base/report_text.hpp"
#include "explain.hpp"
#include "explain_times.hpp"
#include "text.hpp"

namespace tutti::tool {
namespace {

constexpr std::size_t max_ranks = 12;  // that a list of a group shows

std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view units[] = {"bytes", "KiB", "MiB", "GiB"};
  std::size_t u = 0;
  while (u + 1 < std::size(units) && bytes >= 1024 && bytes % 1024 == 0) bytes /= 1024, ++u;
  return fmt::format("{} {}", bytes, units[u]);
}

std::string source_suffix(const explain_result& a, const char* value) {
  const auto at = a.requested.sources.find(value);
  return at == a.requested.sources.end() || at->second == "requested" ? "" : fmt::format(" ({})", at->second);
}

std::string call_text(const explain_result& a) {
  const call& c = a.requested.arguments;
  std::string text(name_of(c.what));
  if (c.what != collective::barrier) {
    const std::uint64_t bytes = std::uint64_t{c.count} * c.type.size;
    text += is_vector_form(c.what)
                ? fmt::format(" with blocks of, for example, {} elements", c.count)
                : fmt::format(" of {} element{} ({})", c.count, c.count == 1 ? "" : "s", size_text(bytes));
    text += fmt::format(" of type {}", a.requested.type_name);
  }
  if (combines(c.what)) text += fmt::format(", operator {}", a.requested.op_name);
  if (is_rooted(c.what)) text += fmt::format(", root {}", c.root);
  if (c.in_place) text += ", in place";
  if (a.requested.context.call.inter) text += ", between two groups";
  if (const reach r = a.requested.context.reaches; r != reach::any_rank)
    text += ", of ranks that know only " + std::string(description_of(r));
  if (!a.requested.blocking) text += ", nonblocking";
  return text;
}

std::string topology_text(const explain_result& a) {
  const hierarchy& h = a.requested.topology;
  const int ranks = a.requested.context.call.ranks;
  std::string text = fmt::format("{} rank{}{}", ranks, ranks == 1 ? "" : "s", source_suffix(a, "ranks"));
  if (h.nodes() == 1) return text + fmt::format(" on one node{}", source_suffix(a, "nodes"));
  text += fmt::format(" on {} nodes", h.nodes());
  text += h.ranks_per_node() != 0 ? fmt::format(" of {}", h.ranks_per_node()) : " of different sizes";
  if (h.levels() > 1) text += fmt::format(", {} levels", h.levels());
  if (!h.consecutive()) text += ", their ranks scattered";
  return text + source_suffix(a, "nodes");
}

std::string engine_text(const explain_result& a) {
  std::string text = fmt::format("engine {}{}", a.requested.engine, source_suffix(a, "engine"));
  if (!a.requested.mpi.empty()) text += fmt::format(" on {}{}", a.requested.mpi, source_suffix(a, "mpi"));
  text += a.requested.context.native ? ", which has a collective of its own for it"
                                     : ", which has no collective of its own for it";
  for (const std::string& name : a.requested.engine_conditions) text += ", " + name;
  return text;
}

std::string with_parameters(const catalogue_entry* e, collective what,
                            const algorithm_parameter_values& parameter_values) {
  std::string text = name_of_entry(e, what);
  if (e == nullptr) return text;
  for (const algorithm_parameter_range& p : e->parameters)
    text += fmt::format("{}{}={}", &p == e->parameters.data() ? ":" : ",", name_of(p.which),
                        parameter_values[static_cast<std::size_t>(p.which)]);
  return text;
}

std::string ranks_text(const inner_result& one, int all) {
  if (static_cast<int>(one.ranks.size()) == all) return fmt::format("all {}", all);
  std::string text = fmt::format("{}:", one.ranks.size());
  for (std::size_t i = 0; i < one.ranks.size(); ++i) {
    if (i == max_ranks) return text + " ...";
    text += fmt::format(" {}", one.ranks[i]);
  }
  return text;
}

std::string table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> widths;
  for (const auto& r : rows)
    for (std::size_t i = 0; i < r.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], r[i].size());
    }
  std::string text;
  for (const auto& r : rows) {
    std::string line;
    for (std::size_t i = 0; i < r.size(); ++i) line += fmt::format("  {:<{}}", r[i], widths[i]);
    text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string path_text(const explain_result& a) {
  std::vector<std::vector<std::string>> rows;
  const std::vector<path_step> path = path_of(a);
  std::string text;
  for (const std::string_view half : {"composition", "pure"}) {
    rows.clear();
    bool requested = false;
    for (const path_step& s : path)
      if (s.half == half && s.line != 0) requested = s.requested;
    std::string overrides;
    for (const path_step& s : path) {
      if (s.half != half) continue;
      if (s.file.empty()) {
        overrides += fmt::format("  {}\n", s.text);
      } else {
        rows.push_back({requested ? s.text : fmt::format("({})", s.text),
                        fmt::format("{}:{}", s.file, s.line), s.source});
      }
    }
    text += fmt::format("\n{} tree{}\n{}{}", half, requested ? "" : ", which is not consulted", overrides,
                        table(rows));
  }
  return text;
}

std::string inner_calls_text(const explain_result& a) {
  std::vector<std::vector<std::string>> rows{
      {"rank", "calls", "of", "on ranks", "", "by", "decided by", "transport"}};
  for (const inner_result& one : a.inner_calls) {
    std::string how = one.times > 1 ? fmt::format("{} times", one.times) : "";
    if (is_rooted(one.what)) how += fmt::format("{}root {}", how.empty() ? "" : ", ", one.root);
    if (one.in_place && one.what != collective::bcast) how += how.empty() ? "in place" : ", in place";
    rows.push_back(
        {std::to_string(one.by), std::string(name_of(one.what)),
         one.what == collective::barrier ? ""
                                         : fmt::format("{} x {}", one.count, a.requested.arguments.type.size),
         ranks_text(one, a.requested.topology.ranks()), how,
         one.found.served ? with_parameters(one.found.pure.pure, one.what, one.found.pure.parameter_values)
                          : "nothing",
         source_of(one.found.algorithm_by, decide(a.trees(), one.context)), one.transport});
  }
  return fmt::format("\ninner calls of rank 0 and its node\n{}", table(rows));
}

// Groups the alternatives by reason; those that could have been chosen come first.
std::string rejected_text(const explain_result& a) {
  std::vector<std::pair<std::string, std::string>> groups;  // reason, names
  std::string permitted, reason;
  const auto add = [](std::string& names, const std::string& name) {
    names += (names.empty() ? "" : ", ") + name.substr(name.find('/') + 1);
  };
  for (const rejected_entry& r : rejected_by(a)) {
    if (r.permitted) {
      add(permitted, r.name);
      reason = r.reason;
      continue;
    }
    auto at = std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == r.reason; });
    if (at == groups.end()) at = groups.insert(at, {r.reason, ""});
    add(at->second, r.name);
  }
  std::string text;
  if (!permitted.empty())
    text += fmt::format("\ncould also serve it, but {}\n{}", reason, wrapped(permitted, 2));
  if (!groups.empty()) text += "\ncannot serve it\n";
  for (const auto& [why, names] : groups) text += wrapped(names + ": " + why, 2);
  return text;
}

}  // namespace

std::string as_text(const explain_result& a) {
  std::string text = fmt::format("{}\n{}\n{}\n", call_text(a), topology_text(a), engine_text(a));
  text += path_text(a);
  if (!a.rejection.empty()) {
    text += fmt::format("\nrefused: {}\n", a.rejection);
  } else {
    text += fmt::format("\nchoice: {}\n  decided by {} ({})\n",
                        with_parameters(a.chosen(), a.requested.arguments.what, a.parameter_values()),
                        place_of(a), source_of(a));
    if (!a.transport.empty()) text += fmt::format("  transport: {}\n", a.transport);
    text += times_as_text(a);
    for (const resolution::rejected_name& u : a.found.rejected_names)
      text += fmt::format("  in place of {}, which does not serve it\n", echoed(u.name));
    if (const catalogue_entry* e = a.chosen())
      for (const algorithm_parameter_range& p : e->parameters) {
        const std::uint32_t value = a.parameter_values()[static_cast<std::size_t>(p.which)];
        text += fmt::format("  {} = {}: {}{}\n", name_of(p.which), value, p.what,
                            value == p.default_value ? " (its default)" : "");
      }
  }
  if (!a.inner_calls.empty()) text += inner_calls_text(a);
  return text + rejected_text(a);
}

}  // namespace tutti::tool

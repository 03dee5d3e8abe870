// SPDX-License-Identifier: Apache-2.0
//
// Finds out what the library would do with a call, and which setting decides it.
#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "engines/engine_table.hpp"
#include "explain.hpp"
#include "runtime/settings/active_trees.hpp"
#include "schedule/composite/planner.hpp"
#include "selection/inner_calls.hpp"

namespace tutti::tool {
namespace {

constexpr std::size_t max_planned_ranks = 64;  // ranks of a node whose composite plans are read

const leaf& leaf_of(const explain_result& a, tree_half half) {
  return decide(a.trees(), a.requested.context, half);
}

// The setting that names the algorithm: "TUTTI_ALLREDUCE_ALGORITHM=ring", "--algorithm ring".
std::string override_text(const explain_result& a, chosen_by by, override_kind kind) {
  const collective what = a.requested.arguments.what;
  const bool composition = kind == override_kind::composition;
  if (by == chosen_by::call)
    return composition ? "composition(\"" + a.query.composition + "\")"
                       : "algorithm(\"" + a.query.algorithm + "\")";
  const forced_choice& forced = a.settings->by().of(what);
  return detail::override_variable(what, kind) + "=" +
         (composition                              ? forced.composition
          : kind == override_kind::inter_algorithm ? forced.inter_algorithm
                                                   : forced.algorithm);
}

override_kind algorithm_kind(const explain_result& a) {
  return a.requested.context.call.inter ? override_kind::inter_algorithm : override_kind::algorithm;
}

// Counts and displacements of a vector form with blocks of equal length.
struct equal_blocks {
  std::vector<std::size_t> counts, displs;

  equal_blocks(call& c, int ranks) : counts(static_cast<std::size_t>(ranks), c.count), displs(counts.size()) {
    if (!is_vector_form(c.what)) return;
    std::exclusive_scan(counts.begin(), counts.end(), displs.begin(), std::size_t{0});
    const counts_view all(counts.data(), counts.size()), places(displs.data(), displs.size());
    c.in_counts = c.out_counts = all;
    c.in_displs = c.out_displs = places;
  }
};

bool same_call(const inner_result& a, const inner_result& b) {
  return a.by == b.by && a.what == b.what && a.ranks == b.ranks && a.count == b.count && a.root == b.root &&
         a.in_place == b.in_place && a.context.native == b.context.native;
}

// The composite plans of rank 0 and of the other ranks on its node. Calls that several of them make
// are listed once.
std::vector<inner_result> inner_calls_of(const explain_result& a) {
  std::vector<inner_result> all;
  call c = a.requested.arguments;
  const hierarchy& topology = a.requested.topology;
  const equal_blocks blocks(c, topology.ranks());
  const selection& by = a.settings->by();
  std::vector<std::pair<std::uint32_t, std::vector<int>>> listed;
  const auto node = topology.members(topology.node_of(0));
  for (const int r : node.first(std::min(node.size(), max_planned_ranks))) {
    // In a rooted collective only the root is in place.
    if (is_rooted(c.what)) c.in_place = a.requested.arguments.in_place && r == c.root;
    planner writer(c, r, topology, a.found.composed.parameter_values);
    a.found.composed.which->plan(writer);
    const composite_plan made = writer.finish();
    const std::size_t first_of_rank = all.size();
    for (const subcall& sub : made.calls) {
      const std::vector<int>& ranks = made.groups[static_cast<std::size_t>(sub.group)];
      const auto key = std::pair(sub.sequence_number, ranks);
      if (r != node.front()) {
        if (std::find(listed.begin(), listed.end(), key) != listed.end()) continue;
      }
      listed.push_back(key);
      inner_result one;
      one.by = r;
      one.what = sub.what;
      one.ranks = ranks;
      if (ranks.empty()) {
        one.ranks.resize(static_cast<std::size_t>(topology.ranks()));
        std::iota(one.ranks.begin(), one.ranks.end(), 0);
      }
      one.count = sub.count;
      one.root = sub.root;
      one.in_place = sub.in_place;
      one.context = inner_selection_context(
          a.requested.context, c, sub, ranks, topology, a.requested.blocking, [&](const agreed_signature& s) {
            return find_engine(a.requested.engine)->native(s, a.requested.engine_conditions);
          });
      const auto same = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(first_of_rank), all.end(),
                                     [&](const inner_result& known) { return same_call(known, one); });
      if (same != all.end()) {
        ++same->times;
        continue;
      }
      const bool named = sub.what == c.what && !a.query.algorithm.empty();
      one.found =
          resolve_inside(by, one.context, {named ? a.query.algorithm.c_str() : nullptr, nullptr}, true, r);
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::string transport_of_call(const queried_call& requested, const call& arguments, const hierarchy& topology,
                              const resolution& found) {
  return transport_of(*find_engine(requested.engine), {.arguments = arguments,
                                                       .topology = topology,
                                                       .native = found.pure.pure == nullptr,
                                                       .node_memory = requested.node_memory,
                                                       .cross_memory = requested.has("cross_memory"),
                                                       .oversubscribed = requested.has("oversubscribed")});
}

void find_transports(explain_result& a) {
  const queried_call& requested = a.requested;
  for (inner_result& one : a.inner_calls) {
    if (!one.found.served) continue;
    call c = requested.arguments;
    c.what = one.what;
    c.count = one.count;
    c.in_place = one.in_place;
    one.transport = transport_of_call(requested, c, requested.topology.restricted_to(one.ranks), one.found);
  }
  if (!a.rejection.empty()) return;
  if (a.found.composed.which == nullptr) {
    a.transport = transport_of_call(requested, requested.arguments, requested.topology, a.found);
    return;
  }
  std::vector<std::string_view> seen;
  for (const inner_result& one : a.inner_calls) {
    if (std::find(seen.begin(), seen.end(), one.transport) != seen.end()) continue;
    seen.push_back(one.transport);
    a.transport += (a.transport.empty() ? "" : "; ") + one.transport;
  }
}

std::string rejection_of(const explain_result& a) {
  const auto unfit = [&](const resolution& r, collective what) -> std::string {
    if (a.settings->when_unfit() != detail::fallback::error || r.rejected_names.empty()) return "";
    const resolution::rejected_name& u = r.rejected_names.front();
    return fmt::format("{}: \"{}\" does not serve this call: {} (TUTTI_COLL_FALLBACK=error)", name_of(what),
                       echoed(u.name), u.reason);
  };
  if (std::string text = unfit(a.found, a.requested.arguments.what); !text.empty()) return text;
  if (!a.found.served) return "no algorithm serves this call on this engine";
  for (const inner_result& one : a.inner_calls) {
    if (std::string text = unfit(one.found, one.what); !text.empty()) return text;
    if (!one.found.served)
      return fmt::format("no algorithm serves the inner {} on this engine", name_of(one.what));
  }
  return "";
}

std::string text_of_leaf(const leaf& l) {
  return l.what == leaf::kind::pure ? "no composition: the pure tree chooses" : to_string(l);
}

}  // namespace

environment::environment(const std::string& builtin) : set_(detail::read_settings()) {
  by_.forced = detail::read_forced();
  // A batch uses the same trees for many queries.
  static std::map<std::string, std::shared_ptr<const document>> known;
  std::string key = builtin;
  for (const char* name : {"TUTTI_TREES", "XDG_CONFIG_HOME", "HOME", "TUTTI_COLL_COMPOSITION_JSON_FILE",
                           "TUTTI_COLL_SELECTION_JSON_FILE", "TUTTI_COLL_STRICT"})
    key += "\n" + setting(name).value_or("");
  std::shared_ptr<const document>& trees = known[key];
  if (!trees) trees = detail::load_trees(builtin);
  by_.trees = trees;
}

explain_result resolve_query(const explain_query& q) {
  explain_result a;
  a.query = q;
  a.requested = read_query(q);
  a.settings = std::make_shared<const environment>(a.requested.builtin_trees);
  set_engine_conditions(a.requested, a.trees());
  const named_choice named{q.algorithm.empty() ? nullptr : q.algorithm.c_str(),
                           q.composition.empty() ? nullptr : q.composition.c_str()};
  a.found = resolve(a.settings->by(), a.requested.context, named);
  if (a.found.composed.which != nullptr) a.inner_calls = inner_calls_of(a);
  a.rejection = rejection_of(a);
  find_transports(a);
  return a;
}

std::string source_of(chosen_by by, const leaf& from) {
  switch (by) {
    case chosen_by::code:
      return "code";
    case chosen_by::environment:
      return "environment";
    case chosen_by::call:
      return "call";
    case chosen_by::tree:
      break;
  }
  return from.from.file == nullptr || from.from.file->builtin ? "default" : "file";
}

std::string source_of(const explain_result& a) {
  return a.found.composed.which != nullptr
             ? source_of(a.found.composition_by, leaf_of(a, tree_half::composition))
             : source_of(a.found.algorithm_by, leaf_of(a, tree_half::pure));
}

std::string place_of(const explain_result& a) {
  const bool composed = a.found.composed.which != nullptr;
  const chosen_by by = composed ? a.found.composition_by : a.found.algorithm_by;
  switch (by) {
    case chosen_by::code:
      return "the built-in fallback";
    case chosen_by::environment:
    case chosen_by::call:
      return override_text(a, by, composed ? override_kind::composition : algorithm_kind(a));
    case chosen_by::tree:
      break;
  }
  const origin& from = leaf_of(a, composed ? tree_half::composition : tree_half::pure).from;
  return from.file == nullptr ? "no region" : fmt::format("{}:{}", echoed(from.file->name), from.line);
}

std::vector<path_step> path_of(const explain_result& a) {
  std::vector<path_step> path;
  const auto add_tree = [&](tree_half half, std::string_view name, bool requested) {
    const explanation e = explain(a.trees(), a.requested.context, half);
    const auto add = [&](const std::string& text, const origin& from) {
      const bool is_default = from.file == nullptr || from.file->builtin;
      path.push_back({name, text, from.file == nullptr ? "" : from.file->name, from.line,
                      is_default ? "default" : "file", requested});
    };
    for (const explanation::line& l : e.path) add(l.text, l.from);
    add("=> " + text_of_leaf(e.chosen), e.chosen.from);
  };
  const auto add_override = [&](std::string_view half, chosen_by by, override_kind kind,
                                const std::string& what) {
    path.push_back({half, override_text(a, by, kind) + what, "", 0, source_of(by, {}), true});
  };
  const resolution& r = a.found;
  for (const resolution::rejected_name& u : r.rejected_names)
    add_override(u.what == override_kind::composition ? "composition" : "pure", u.given_by, u.what,
                 " does not serve this call: " + u.reason);
  const bool named = r.composition_by != chosen_by::tree;
  const bool null_by_algorithm =
      named && r.composed.which == nullptr && !r.used_forced_composition && a.query.composition.empty();
  if (null_by_algorithm)
    add_override("composition", r.composition_by, algorithm_kind(a), ": no composition");
  else if (named && std::none_of(r.rejected_names.begin(), r.rejected_names.end(),
                                 [](const auto& u) { return u.what == override_kind::composition; }))
    add_override("composition", r.composition_by, override_kind::composition, "");
  add_tree(tree_half::composition, "composition", !named);
  const bool algorithm_named = r.composed.which == nullptr && (r.algorithm_by == chosen_by::environment ||
                                                               r.algorithm_by == chosen_by::call);
  if (algorithm_named) add_override("pure", r.algorithm_by, algorithm_kind(a), "");
  add_tree(tree_half::pure, "pure", r.composed.which == nullptr && !algorithm_named);
  if (r.composed.which == nullptr && r.algorithm_by == chosen_by::code)
    path.push_back(
        {"pure", "the tree's choice does not serve the call: the built-in fallback", "", 0, "code", true});
  return path;
}

std::vector<rejected_entry> rejected_by(const explain_result& a) {
  std::vector<rejected_entry> all;
  const selection_context& s = a.requested.context;
  const collective what = s.call.what;
  const catalogue_entry* const chosen = a.chosen();
  const bool composed = a.found.composed.which != nullptr;
  const bool by_tree = (composed ? a.found.composition_by : a.found.algorithm_by) == chosen_by::tree;
  const std::string decided =
      composed || !by_tree
          ? fmt::format("{} decides", composed && by_tree ? "the composition tree" : place_of(a))
          : fmt::format("the tree chooses {}", name_of_entry(chosen, what));
  const auto add = [&](std::string name, const std::string& reason) {
    all.push_back({std::move(name), reason.empty() ? decided : reason, reason.empty()});
  };
  for (const resolution::rejected_name& u : a.found.rejected_names)
    if (u.what == override_kind::composition || is_native(u.name))
      all.push_back(
          {fmt::format("{}/{}", name_of(what), u.name.substr(u.name.find('/') + 1)), u.reason, false});
  if (composed || chosen != nullptr || !a.found.served)
    if (all.empty() || all.back().name != fmt::format("{}/native", name_of(what)))
      add(name_of_entry(nullptr, what), s.native ? "" : "the engine has no collective of its own for it");
  for (const pure_algorithm* one : catalogue())
    if (one->what == what && one != chosen) add(std::string(one->name), why_not(choice(one), s));
  for (const composed_algorithm* one : composition_catalogue())
    if (one->what == what && one != chosen &&
        std::none_of(all.begin(), all.end(), [&](const rejected_entry& e) { return e.name == one->name; }))
      add(std::string(one->name), why_not(composed_choice(one), s));
  return all;
}

std::string name_of_entry(const catalogue_entry* e, collective what) {
  return e != nullptr ? std::string(e->name) : fmt::format("{}/native", name_of(what));
}

nlohmann::ordered_json parameters_of(const catalogue_entry* e,
                                     const algorithm_parameter_values& parameter_values) {
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  if (e != nullptr)
    for (const algorithm_parameter_range& p : e->parameters)
      all[name_of(p.which)] = parameter_values[static_cast<std::size_t>(p.which)];
  return all;
}

}  // namespace tutti::tool

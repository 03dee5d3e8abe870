// SPDX-License-Identifier: Apache-2.0
//
// Finds out what the library would do with a call, and which setting decides it.
#include <algorithm>
#include <numeric>

#include <fmt/core.h>

#include "base/environment.hpp"
#include "engines/engine.hpp"
#include "explain.hpp"
#include "runtime/settings/active_trees.hpp"
#include "schedule/composite/planner.hpp"
#include "selection/inner_calls.hpp"

namespace tutti::tool {
namespace {

constexpr std::size_t max_asked = 64;  // ranks of a node whose composite plans are read

const leaf& leaf_of(const answer& a, tree_half half) { return decide(a.trees(), a.requested.seen, half); }

// The setting that names the algorithm: "TUTTI_ALLREDUCE_ALGORITHM=ring", "--algorithm ring".
std::string spelled(const answer& a, chosen_by by, override_kind kind) {
  const collective what = a.requested.meant.what;
  const bool composition = kind == override_kind::composition;
  if (by == chosen_by::call)
    return composition ? "composition(\"" + a.typed.composition + "\")"
                       : "algorithm(\"" + a.typed.algorithm + "\")";
  const forced_choice& forced = a.under->by().of(what);
  return detail::override_variable(what, kind) + "=" +
         (composition                              ? forced.composition
          : kind == override_kind::inter_algorithm ? forced.inter_algorithm
                                                   : forced.algorithm);
}

override_kind algorithm_kind(const answer& a) {
  return a.requested.seen.call.inter ? override_kind::inter_algorithm : override_kind::algorithm;
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

bool alike(const inner_answer& a, const inner_answer& b) {
  return a.by == b.by && a.what == b.what && a.ranks == b.ranks && a.count == b.count && a.root == b.root &&
         a.in_place == b.in_place && a.seen.native == b.seen.native;
}

// The composite plans of rank 0 and of the other ranks on its node. Calls that several of them make
// are listed once.
std::vector<inner_answer> calls_inside(const answer& a) {
  std::vector<inner_answer> all;
  call c = a.requested.meant;
  const hierarchy& layout = a.requested.layout;
  const equal_blocks blocks(c, layout.ranks());
  const selection& by = a.under->by();
  std::vector<std::pair<std::uint32_t, std::vector<int>>> told;
  const auto node = layout.members(layout.node_of(0));
  for (const int r : node.first(std::min(node.size(), max_asked))) {
    // In a rooted collective only the root is in place.
    if (is_rooted(c.what)) c.in_place = a.requested.meant.in_place && r == c.root;
    planner asks(c, r, layout, a.found.composed.parameter_values);
    a.found.composed.which->plan(asks);
    const composite_plan made = asks.finish();
    const std::size_t own = all.size();
    for (const subcall& sub : made.calls) {
      const std::vector<int>& ranks = made.groups[static_cast<std::size_t>(sub.group)];
      const auto key = std::pair(sub.number, ranks);
      if (r != node.front()) {
        if (std::find(told.begin(), told.end(), key) != told.end()) continue;
      }
      told.push_back(key);
      inner_answer one;
      one.by = r;
      one.what = sub.what;
      one.ranks = ranks;
      if (ranks.empty()) {
        one.ranks.resize(static_cast<std::size_t>(layout.ranks()));
        std::iota(one.ranks.begin(), one.ranks.end(), 0);
      }
      one.count = sub.count;
      one.root = sub.root;
      one.in_place = sub.in_place;
      one.seen = inner_selection_context(
          a.requested.seen, c, sub, ranks, layout, a.requested.blocking, [&](const agreed_signature& s) {
            return find_engine(a.requested.engine)->native(s, a.requested.holds);
          });
      const auto same = std::find_if(all.begin() + static_cast<std::ptrdiff_t>(own), all.end(),
                                     [&](const inner_answer& known) { return alike(known, one); });
      if (same != all.end()) {
        ++same->times;
        continue;
      }
      const bool named = sub.what == c.what && !a.typed.algorithm.empty();
      one.found =
          resolve_inside(by, one.seen, {named ? a.typed.algorithm.c_str() : nullptr, nullptr}, true, r);
      all.push_back(std::move(one));
    }
  }
  return all;
}

std::string refusal_of(const answer& a) {
  const auto unfit = [&](const resolution& r, collective what) -> std::string {
    if (a.under->when_unfit() != detail::fallback::error || r.unfits.empty()) return "";
    const resolution::unfit& u = r.unfits.front();
    return fmt::format("{}: \"{}\" does not serve this call: {} (TUTTI_COLL_FALLBACK=error)", name_of(what),
                       u.name, u.reason);
  };
  if (std::string text = unfit(a.found, a.requested.meant.what); !text.empty()) return text;
  if (!a.found.served) return "no algorithm serves this call on this engine";
  for (const inner_answer& one : a.inside) {
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

environment::environment(const std::string& engine) : set_(detail::read_settings()) {
  by_.forced = detail::read_forced();
  // A batch uses the same trees for many questions.
  static std::map<std::string, std::shared_ptr<const document>> known;
  std::string key = engine;
  for (const char* name : {"TUTTI_TREES", "XDG_CONFIG_HOME", "HOME", "TUTTI_COLL_COMPOSITION_JSON_FILE",
                           "TUTTI_COLL_SELECTION_JSON_FILE", "TUTTI_COLL_STRICT"})
    key += "\n" + setting(name).value_or("");
  std::shared_ptr<const document>& trees = known[key];
  if (!trees) trees = detail::load_trees(engine);
  by_.trees = trees;
}

answer find_answer(const question& q) {
  answer a;
  a.typed = q;
  a.requested = read_question(q);
  a.under = std::make_shared<const environment>(a.requested.engine);
  state_conditions(a.requested, a.trees());
  const named_choice named{q.algorithm.empty() ? nullptr : q.algorithm.c_str(),
                           q.composition.empty() ? nullptr : q.composition.c_str()};
  a.found = resolve(a.under->by(), a.requested.seen, named);
  if (a.found.composed.which != nullptr) a.inside = calls_inside(a);
  a.refused = refusal_of(a);
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

std::string source_of(const answer& a) {
  return a.found.composed.which != nullptr
             ? source_of(a.found.composition_by, leaf_of(a, tree_half::composition))
             : source_of(a.found.algorithm_by, leaf_of(a, tree_half::pure));
}

std::string place_of(const answer& a) {
  const bool composed = a.found.composed.which != nullptr;
  const chosen_by by = composed ? a.found.composition_by : a.found.algorithm_by;
  switch (by) {
    case chosen_by::code:
      return "the built-in fallback";
    case chosen_by::environment:
    case chosen_by::call:
      return spelled(a, by, composed ? override_kind::composition : algorithm_kind(a));
    case chosen_by::tree:
      break;
  }
  const origin& from = leaf_of(a, composed ? tree_half::composition : tree_half::pure).from;
  return from.file == nullptr ? "no region" : fmt::format("{}:{}", from.file->name, from.line);
}

std::vector<way_step> way_of(const answer& a) {
  std::vector<way_step> way;
  const auto add_tree = [&](tree_half half, std::string_view name, bool requested) {
    const explanation e = explain(a.trees(), a.requested.seen, half);
    const auto add = [&](const std::string& text, const origin& from) {
      const bool is_default = from.file == nullptr || from.file->builtin;
      way.push_back({name, text, from.file == nullptr ? "" : from.file->name, from.line,
                     is_default ? "default" : "file", requested});
    };
    for (const explanation::line& l : e.path) add(l.text, l.from);
    add("=> " + text_of_leaf(e.chosen), e.chosen.from);
  };
  const auto add_override = [&](std::string_view half, chosen_by by, override_kind kind,
                                const std::string& what) {
    way.push_back({half, spelled(a, by, kind) + what, "", 0, source_of(by, {}), true});
  };
  const resolution& r = a.found;
  for (const resolution::unfit& u : r.unfits)
    add_override(u.what == override_kind::composition ? "composition" : "pure", u.given_by, u.what,
                 " does not serve this call: " + u.reason);
  const bool named = r.composition_by != chosen_by::tree;
  const bool null_by_algorithm =
      named && r.composed.which == nullptr && !r.obeyed_composition && a.typed.composition.empty();
  if (null_by_algorithm)
    add_override("composition", r.composition_by, algorithm_kind(a), ": no composition");
  else if (named && std::none_of(r.unfits.begin(), r.unfits.end(), [](const resolution::unfit& u) {
             return u.what == override_kind::composition;
           }))
    add_override("composition", r.composition_by, override_kind::composition, "");
  add_tree(tree_half::composition, "composition", !named);
  const bool algorithm_named = r.composed.which == nullptr && (r.algorithm_by == chosen_by::environment ||
                                                               r.algorithm_by == chosen_by::call);
  if (algorithm_named) add_override("pure", r.algorithm_by, algorithm_kind(a), "");
  add_tree(tree_half::pure, "pure", r.composed.which == nullptr && !algorithm_named);
  if (r.composed.which == nullptr && r.algorithm_by == chosen_by::code)
    way.push_back(
        {"pure", "the tree's choice does not serve the call: the built-in fallback", "", 0, "code", true});
  return way;
}

std::vector<rejected_entry> rejected_by(const answer& a) {
  std::vector<rejected_entry> all;
  const selection_context& s = a.requested.seen;
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
  for (const resolution::unfit& u : a.found.unfits)
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

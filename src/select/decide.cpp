// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include "select/tree.hpp"
#include "select/truth_set.hpp"

namespace tutti {
namespace {

const tree_region* region_of(const std::vector<tree_region>& regions, const situation& s) noexcept {
  const condition_bits truth = conditions_of(s);
  for (const tree_region& r : regions)
    if (r.when.hold(truth)) return &r;
  return nullptr;
}

const tree_step& step_of(const tree_node& n, const situation& s) noexcept {
  const std::uint64_t value = value_of(n.by, s);
  for (const tree_step& one : n.steps)
    if (value <= one.upto) return one;
  return n.steps.back();
}

// Where no region fits.
const leaf& fallback(const situation& s, tree_half half) noexcept {
  static const leaf native{leaf::kind::native, {}, {}, {}},
      none{leaf::kind::algorithm, {}, {}, {}}, pure{leaf::kind::pure, {}, {}, {}};
  return half == tree_half::composition ? pure : s.native && !s.call.inter ? native : none;
}

std::string name_of(const leaf& l, collective what) {
  switch (l.what) {
    case leaf::kind::native:
      return std::string(tutti::name_of(what)) + "/native";
    case leaf::kind::algorithm:
      return l.chosen.pure == nullptr ? "" : std::string(l.chosen.pure->name);
    case leaf::kind::pure:
      return "@pure";
    case leaf::kind::composed:
      return std::string(l.composed.which->name);
  }
  return "";
}

std::vector<tree_region> overlaid(const std::vector<tree_region>& base, const std::vector<tree_region>& over,
                                  collective what) {
  if (over.empty()) return base;
  condition_bits mentioned = 0;
  for (const tree_region& r : over) mentioned |= r.when.mask;
  for (const tree_region& r : base) mentioned |= r.when.mask;
  truth_set left(mentioned, what);
  std::vector<tree_region> all;
  for (const auto* regions : {&over, &base})
    for (const tree_region& r : *regions) {
      if (!left.meets(r.when)) continue;
      left.take(r.when);
      all.push_back(r);
    }
  return all;
}

// What a call does not fulfil; empty where it may run the algorithm.
std::string unmet(const leaf& l, condition_bits truth) {
  const demand d = demands_of(l);
  std::string text;
  for (const condition_entry& e : conditions()) {
    if (!(d.conditions.mask & bit(e.which)) || ((d.conditions.values ^ truth) & bit(e.which)) == 0) continue;
    text += (text.empty() ? "demands " : ", ") + std::string(e.name) +
            (d.conditions.values & bit(e.which) ? "" : " = false");
  }
  return text.empty() && !d.beyond.empty() ? "demands that " + d.beyond : text;
}

}  // namespace

const leaf& decide(const document& d, const situation& s, tree_half half) noexcept {
  const tree_region* r = region_of(d.of(half)[static_cast<std::size_t>(s.call.what)], s);
  if (r == nullptr) return fallback(s, half);
  const tree_node* n = &r->then;
  while (!n->is_leaf()) n = &step_of(*n, s).then;
  return n->use;
}

document overlay(const document& base, const document& over) {
  document made;
  for (std::size_t c = 0; c < collective_names.size(); ++c) {
    const auto what = static_cast<collective>(c);
    made.composition[c] = overlaid(base.composition[c], over.composition[c], what);
    made.pure[c] = overlaid(base.pure[c], over.pure[c], what);
  }
  made.machine = over.machine.empty() ? base.machine : over.machine;
  return made;
}

explanation explain(const document& d, const situation& s, tree_half half) {
  explanation e;
  const collective what = s.call.what;
  const condition_bits truth = conditions_of(s);
  e.chosen = decide(d, s, half);
  e.algorithm = name_of(e.chosen, what);
  e.source = e.chosen.from.file == nullptr || e.chosen.from.file->builtin ? "default" : "file";
  const tree_region* r = region_of(d.of(half)[static_cast<std::size_t>(what)], s);
  for (const tree_region& before : d.of(half)[static_cast<std::size_t>(what)]) {
    if (&before == r) break;
    e.path.push_back({"not " + to_string(before.when), before.from});
  }
  if (r == nullptr) {
    e.path.push_back({"no region serves the call", {}});
  } else {
    e.path.push_back({r->when.mask == 0 ? "any call" : "when " + to_string(r->when), r->from});
    for (const tree_node* n = &r->then; !n->is_leaf();) {
      const tree_step& taken = step_of(*n, s);
      e.path.push_back(
          {"by " + std::string(name_of(n->by)) + " = " + std::to_string(value_of(n->by, s)) +
               (taken.upto == tree_step::open ? ": the last step" : ": upto " + std::to_string(taken.upto)),
           taken.from});
      n = &taken.then;
    }
  }
  if (half == tree_half::composition) return e;
  const auto reject = [&](const leaf& other) {
    const std::string reason = unmet(other, truth);
    e.rejected.push_back({name_of(other, what), reason.empty()
                                                    ? "not reached: the tree chooses " + e.algorithm + " here"
                                                    : reason});
  };
  if (e.chosen.what != leaf::kind::native) reject(leaf{});
  for (const pure_algorithm* a : catalogue())
    if (a->what == what && a != e.chosen.chosen.pure) reject(leaf{leaf::kind::algorithm, choice(a), {}, {}});
  return e;
}

document builtin_document(std::string_view engine) {
  const auto load = [](std::string_view name, extent how_much) {
    const std::string_view text = builtin_tree(name);
    if (text.empty()) throw std::invalid_argument("there is no built-in tree \"" + std::string(name) + "\"");
    read_result read = read_tree(text, "trees/" + std::string(name) + ".json", how_much, true);
    if (!read.good()) throw std::logic_error(read.faults.front().text());
    return std::move(read.made);
  };
  document common = load("common", extent::whole);
  return engine == "common" ? common : overlay(common, load(engine, extent::partial));
}

}  // namespace tutti

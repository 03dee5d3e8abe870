// SPDX-License-Identifier: Apache-2.0
#include "selection/tree.hpp"

namespace tutti::detail {
namespace {

const tree_region* region_of(const std::vector<tree_region>& regions, const selection_context& s) noexcept {
  const condition_bits truth = conditions_of(s);
  for (const tree_region& r : regions)
    if (r.when.hold(truth)) return &r;
  return nullptr;
}

const tree_step& step_of(const tree_node& n, const selection_context& s) noexcept {
  const std::uint64_t value = value_of(n.by, s);
  for (const tree_step& one : n.steps)
    if (value <= one.upper_bound) return one;
  return n.steps.back();
}

// The decision for calls that no region matches.
const leaf& fallback(const selection_context& s, tree_half half) noexcept {
  static const leaf native{leaf::kind::native, {}, {}, {}}, none{leaf::kind::algorithm, {}, {}, {}},
      pure{leaf::kind::pure, {}, {}, {}};
  return half == tree_half::composition ? pure : s.may_be_native() && !s.call.inter ? native : none;
}

const leaf& walk(const document& d, const selection_context& s, tree_half half) noexcept {
  const tree_region* r = region_of(d.of(half)[static_cast<std::size_t>(s.call.what)], s);
  if (r == nullptr) return fallback(s, half);
  const tree_node* n = &r->then;
  while (!n->is_leaf()) n = &step_of(*n, s).then;
  return n->use;
}

// Returns whether the tree chooses native, but the engine offers it only to calls that name it.
bool native_must_be_named(const leaf& l, const selection_context& s) noexcept {
  return l.what == leaf::kind::native && s.native_by_name;
}
selection_context without_native(selection_context s) noexcept {
  s.offer(native_offer::none);
  return s;
}

// The name with the collective, as the library reports it.
std::string full_name(const leaf& l, collective what) {
  if (const catalogue_entry* const entry = l.named()) return std::string(entry->name);
  return l.what == leaf::kind::native ? std::string(name_of(what)) + "/native" : std::string(name_of(l));
}

}  // namespace

const catalogue_entry* leaf::named() const noexcept {
  return what == kind::algorithm  ? static_cast<const catalogue_entry*>(chosen.pure)
         : what == kind::composed ? composed.which
                                  : nullptr;
}

std::string_view name_of(const leaf& l) noexcept {
  if (const catalogue_entry* const entry = l.named()) return entry->short_name();
  return l.what == leaf::kind::native ? "native" : l.what == leaf::kind::pure ? "@pure" : "";
}

std::string to_string(const leaf& l) {
  std::string text(name_of(l));
  const catalogue_entry* const entry = l.named();
  if (entry == nullptr) return text;
  const char* before = ":";
  for (const algorithm_parameter_range& p : entry->parameters) {
    text += before + std::string(name_of(p.which)) + "=" +
            std::to_string(l.parameter_values()[static_cast<std::size_t>(p.which)]);
    before = ",";
  }
  return text;
}

demand demands_of(const leaf& l, bool reach_too) {
  demand d;
  if (const catalogue_entry* const entry = l.named())
    d = demands_of(*entry, l.parameter_values());
  else if (l.what == leaf::kind::native)
    d.conditions.demand(condition::native, true);
  if (!reach_too) {
    d.conditions.mask &= ~reach_conditions;
    d.conditions.values &= ~reach_conditions;
  }
  return d;
}

bool permits(const leaf& l, const selection_context& s) noexcept {
  if (l.what == leaf::kind::algorithm && l.chosen.pure == nullptr) return false;
  return l.what == leaf::kind::pure || l.what == leaf::kind::composed ? permits(l.composed, s)
                                                                      : permits(l.chosen, s);
}

std::string why_not(const leaf& l, const selection_context& s) {
  if (l.what == leaf::kind::algorithm && l.chosen.pure == nullptr) return "no algorithm implements it";
  return l.what == leaf::kind::pure || l.what == leaf::kind::composed ? why_not(l.composed, s)
                                                                      : why_not(l.chosen, s);
}

const leaf& decide(const document& d, const selection_context& s, tree_half half) noexcept {
  const leaf& found = walk(d, s, half);
  return native_must_be_named(found, s) ? walk(d, without_native(s), half) : found;
}

bool tests_quantity(const document& d, collective what, quantity q) noexcept {
  const auto divides = [q](const auto& self, const tree_node& n) -> bool {
    if (n.is_leaf()) return false;
    if (n.by == q) return true;
    for (const tree_step& step : n.steps)
      if (self(self, step.then)) return true;
    return false;
  };
  for (const tree_half half : {tree_half::composition, tree_half::pure})
    for (const tree_region& r : d.of(half)[static_cast<std::size_t>(what)])
      if (divides(divides, r.then)) return true;
  return false;
}

explanation explain(const document& d, const selection_context& requested, tree_half half) {
  explanation e;
  const collective what = requested.call.what;
  const leaf& first = walk(d, requested, half);
  const bool not_native = native_must_be_named(first, requested);
  const selection_context s = not_native ? without_native(requested) : requested;
  if (not_native)
    e.path.push_back(
        {"not native: it does not report operands whose lengths differ, so it is used only if it is named",
         first.from});
  e.chosen = decide(d, s, half);
  e.algorithm = full_name(e.chosen, what);
  e.source = e.chosen.from.file == nullptr || e.chosen.from.file->builtin ? "default" : "file";
  const tree_region* r = region_of(d.of(half)[static_cast<std::size_t>(what)], s);
  for (const tree_region& before : d.of(half)[static_cast<std::size_t>(what)]) {
    if (&before == r) break;
    e.path.push_back({"not (" + to_string(before.when, d.conditions) + ")", before.from});
  }
  if (r == nullptr) {
    e.path.push_back({"no region serves the call", {}});
  } else {
    e.path.push_back({r->when.mask == 0 ? "any call" : "when " + to_string(r->when, d.conditions), r->from});
    for (const tree_node* n = &r->then; !n->is_leaf();) {
      const tree_step& step = step_of(*n, s);
      e.path.push_back(
          {"by " + std::string(name_of(n->by)) + " = " + std::to_string(value_of(n->by, s)) +
               (step.upper_bound == tree_step::open ? ": the last step"
                                                    : ": upto " + std::to_string(step.upper_bound)),
           step.from});
      n = &step.then;
    }
  }
  const auto reject = [&](const leaf& other) {
    const std::string reason = why_not(other, s);
    e.rejected.push_back(
        {full_name(other, what),
         reason.empty() ? "not reached: the tree chooses " + e.algorithm + " here" : reason});
  };
  const catalogue_entry* const chosen = e.chosen.named();
  if (half == tree_half::composition) {
    if (e.chosen.what != leaf::kind::pure) reject({leaf::kind::pure, {}, {}, {}});
    for (const composed_algorithm* c : composition_catalogue())
      if (c->what == what && c != chosen) reject({leaf::kind::composed, {}, composed_choice(c), {}});
  } else {
    if (not_native)
      e.rejected.push_back(
          {full_name(first, what),
           "it does not report operands whose lengths differ, so it is used only if it is named"});
    else if (e.chosen.what != leaf::kind::native)
      reject(leaf::native());
    for (const pure_algorithm* a : catalogue())
      if (a->what == what && a != chosen) reject({leaf::kind::algorithm, choice(a), {}, {}});
  }
  return e;
}

}  // namespace tutti::detail

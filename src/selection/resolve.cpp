// SPDX-License-Identifier: Apache-2.0
#include "selection/resolve.hpp"

#include "base/report_text.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

std::string_view short_name(std::string_view name) noexcept { return name.substr(name.find('/') + 1); }

[[noreturn]] void throw_unknown_name(const selection_context& s, const char* parameter, std::string_view name,
                                     const std::string& known, int rank) {
  throw usage_error(std::string(name_of(s.call.what)), rank, parameter,
                    "\"" + echoed(name) + "\" does not exist", "known are" + known);
}

// The choice that a name selects, and the restrictions that the call does not meet (empty if it
// serves the call).
struct named_algorithm {
  choice pure;
  std::string unmet;
};
named_algorithm read_algorithm(const selection_context& s, std::string_view name, int rank) {
  named_algorithm r;
  if (is_native(name)) {
    if (!s.native) r.unmet = "the engine has no collective of its own for it";
    return r;
  }
  r.pure = read_choice(s.call.what, name, rank);
  if (r.pure.pure == nullptr) {
    std::string known = s.native ? " native" : "";
    for (const pure_algorithm* one : catalogue())
      if (one->what == s.call.what && has_restriction(one->restrictions, restriction::inter) == s.call.inter)
        known += " " + std::string(one->short_name());
    throw_unknown_name(s, "algorithm", name, known, rank);
  }
  r.unmet = why_not(r.pure, s);
  return r;
}

// Returns true if the name decides about the composition.
bool apply_composition(resolution& made, const selection_context& s, std::string_view name, chosen_by by,
                       int rank) {
  made.composition_by = by;
  if (is_null_composition(name)) return true;
  const composed_choice c = read_composition(s.call.what, name, rank);
  if (c.which == nullptr) {
    std::string known = " @pure";
    for (const composed_algorithm* one : composition_catalogue())
      if (one->what == s.call.what) known += " " + std::string(one->short_name());
    throw_unknown_name(s, "composition", name, known, rank);
  }
  const std::string unmet = why_not(c, s);
  if (!unmet.empty()) {
    made.rejected_names.push_back({by, override_kind::composition, std::string(name), unmet});
    return false;
  }
  made.composed = c;
  return true;
}

void choose_pure(resolution& made, const selection& by, const selection_context& s) {
  if (by.trees) {
    const leaf& found = decide(*by.trees, s);
    made.algorithm_by = chosen_by::tree;
    made.pure = found.chosen;
    if (found.what == leaf::kind::native && s.may_be_native()) {
      made.pure = {};
      return;
    }
    if (found.what == leaf::kind::algorithm && found.chosen.pure != nullptr && permits(found.chosen, s))
      return;
  }
  made.algorithm_by = chosen_by::code;
  try {
    made.pure = choose(s);
  } catch (const usage_error&) {
    made.served = false;
  }
}

}  // namespace

bool is_native(std::string_view name) noexcept { return short_name(name) == "native"; }

resolution resolve_inside(const selection& by, const selection_context& s, const named_choice& named,
                          bool use_names, int rank) {
  resolution made;
  const forced_choice& forced = by.of(s.call.what);
  const std::string& forced_name = s.call.inter ? forced.inter_algorithm : forced.algorithm;
  const bool by_call = named.algorithm != nullptr;
  if (use_names && (by_call || !forced_name.empty())) {
    const std::string_view name = by_call ? std::string_view(named.algorithm) : forced_name;
    named_algorithm r = read_algorithm(s, name, rank);
    if (r.unmet.empty()) {
      made.pure = r.pure;
      made.algorithm_by = by_call ? chosen_by::call : chosen_by::environment;
      made.used_forced_algorithm = !by_call;
      return made;
    }
    made.rejected_names.push_back({by_call ? chosen_by::call : chosen_by::environment,
                                   s.call.inter ? override_kind::inter_algorithm : override_kind::algorithm,
                                   std::string(name), std::move(r.unmet)});
  }
  choose_pure(made, by, s);
  return made;
}

resolution resolve(const selection& by, const selection_context& s, const named_choice& named, int rank) {
  resolution made;
  const forced_choice& forced = by.of(s.call.what);
  bool use_names = true;
  if (named.composition != nullptr) {
    use_names = apply_composition(made, s, named.composition, chosen_by::call, rank);
  } else if (named.algorithm != nullptr) {
    made.composition_by = chosen_by::call;
  } else if (!forced.composition.empty() && !s.call.inter) {
    use_names = apply_composition(made, s, forced.composition, chosen_by::environment, rank);
    made.used_forced_composition = use_names;
  } else if (!(s.call.inter ? forced.inter_algorithm : forced.algorithm).empty()) {
    made.composition_by = chosen_by::environment;
  } else if (by.trees) {
    const leaf& found = decide(*by.trees, s, tree_half::composition);
    if (found.what == leaf::kind::composed && permits(found.composed, s)) made.composed = found.composed;
  }
  if (made.composed.which != nullptr) return made;
  resolution pure = resolve_inside(by, s, named, use_names, rank);
  pure.composition_by = made.composition_by;
  pure.used_forced_composition = made.used_forced_composition;
  pure.rejected_names.insert(pure.rejected_names.begin(), made.rejected_names.begin(),
                             made.rejected_names.end());
  return pure;
}

}  // namespace tutti::detail

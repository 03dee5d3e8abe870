// SPDX-License-Identifier: Apache-2.0
#include "selection/choose.hpp"

#include <algorithm>
#include <initializer_list>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "selection/restrictions.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

bool permits(const choice& c, const selection_context& s) noexcept {
  return c.pure == nullptr ? (conditions_of(s) & bit(condition::native)) != 0
                           : meets_demands(*c.pure, c.parameter_values, s);
}
bool permits(const composed_choice& c, const selection_context& s) noexcept {
  return c.which == nullptr || meets_demands(*c.which, c.parameter_values, s);
}
bool permits(const choice& c, const agreed_signature& s) noexcept {
  return permits(c, selection_context{.call = s});
}

std::string why_not(const choice& c, const selection_context& s) {
  if (c.pure != nullptr) return unmet_demands(*c.pure, c.parameter_values, s);
  return permits(c, s) ? "" : "the engine has no collective of its own for it";
}
std::string why_not(const composed_choice& c, const selection_context& s) {
  return c.which == nullptr ? "" : unmet_demands(*c.which, c.parameter_values, s);
}
std::string why_not(const choice& c, const agreed_signature& s) {
  return why_not(c, selection_context{.call = s});
}

namespace {

// Parses the parameters that follow the name: "segment=64K,k=3".
void read_parameters(const catalogue_entry& entry, std::string_view text, int rank,
                     algorithm_parameter_values& parameter_values) {
  const auto reject = [&](const std::string& problem) {
    std::string known;
    for (const algorithm_parameter_range& p : entry.parameters)
      known += (known.empty() ? "" : ", ") + std::string(name_of(p.which)) + " from " +
               std::to_string(p.min) + " to " + std::to_string(p.max);
    throw usage_error(std::string(name_of(entry.what)), rank, "algorithm",
                      "\"" + echoed(text) + "\": " + problem,
                      known.empty() ? std::string(entry.name) + " has no parameters" : "it has " + known);
  };
  const auto colon = text.find(':');
  std::string_view rest = colon == text.npos ? std::string_view() : text.substr(colon + 1);
  while (!rest.empty()) {
    const std::string_view one = rest.substr(0, rest.find(','));
    rest = one.size() == rest.size() ? std::string_view() : rest.substr(one.size() + 1);
    const auto equals = one.find('=');
    const std::string_view key = one.substr(0, equals);
    const algorithm_parameter_range* found = nullptr;
    for (const algorithm_parameter_range& p : entry.parameters)
      if (name_of(p.which) == key) found = &p;
    if (found == nullptr) reject("there is no parameter \"" + echoed(key) + "\"");
    const std::string_view number = equals == one.npos ? std::string_view() : one.substr(equals + 1);
    const auto value = read_number(number);
    if (!value) reject("\"" + echoed(number) + "\" is not a number");
    if (*value < found->min || *value > found->max)
      reject(std::string(key) + " is " + echoed(number) + ", out of range");
    parameter_values[static_cast<std::size_t>(found->which)] = static_cast<std::uint32_t>(*value);
  }
}

template <class Entry>
const Entry* find_entry(std::span<const Entry* const> all, collective what, std::string_view name) noexcept {
  for (const Entry* e : all)
    if (e->what == what && (e->name == name || e->short_name() == name)) return e;
  return nullptr;
}

}  // namespace

const pure_algorithm* find_algorithm(collective what, std::string_view name) noexcept {
  return find_entry(catalogue(), what, name);
}

bool is_null_composition(std::string_view name) noexcept {
  const std::string_view tail = name.substr(name.find('/') + 1);
  return name == "@pure" || tail == "null" || tail == "auto";
}

const composed_algorithm* find_composition(collective what, std::string_view name) noexcept {
  return find_entry(composition_catalogue(), what, name);
}

choice read_choice(collective what, std::string_view text, int rank) {
  const std::string_view name = text.substr(0, text.find(':'));
  const pure_algorithm* a = find_algorithm(what, name);
  if (a == nullptr) return {};
  // "ring:segment=64K" means segmented_ring: the segmented algorithm has a separate name.
  const auto has_segment = [](const pure_algorithm& one) {
    return std::any_of(one.parameters.begin(), one.parameters.end(), [](const algorithm_parameter_range& p) {
      return p.which == algorithm_parameter::segment;
    });
  };
  if (!has_segment(*a) && text.find("segment=") != text.npos)
    if (const auto* other = find_algorithm(what, "segmented_" + std::string(a->short_name()))) a = other;
  choice made(a);
  read_parameters(*a, text, rank, made.parameter_values);
  return made;
}

composed_choice read_composition(collective what, std::string_view text, int rank) {
  const composed_algorithm* c = find_composition(what, text.substr(0, text.find(':')));
  if (c == nullptr) return {};
  composed_choice made(c);
  read_parameters(*c, text, rank, made.parameter_values);
  return made;
}

namespace {

const pure_algorithm* permitted(const selection_context& s, std::string_view name) noexcept {
  const pure_algorithm* a = find_algorithm(s.call.what, name);
  return a != nullptr && permits(choice(a), s) ? a : nullptr;
}

// The fallback in code, used if no tree decides: the first of the names that the call permits. It
// exists for every collective and serves every call that some algorithm can serve. "hops" and
// "along" are for groups whose members know only a few other members; "along" serves all such
// groups.
const pure_algorithm* best_pure(const selection_context& all) noexcept {
  const agreed_signature& s = all.call;
  const auto first_of = [&](std::initializer_list<std::string_view> names) -> const pure_algorithm* {
    for (const std::string_view name : names)
      if (const pure_algorithm* a = permitted(all, name)) return a;
    for (const std::string_view name : {"hops", "along"})
      if (const pure_algorithm* a = permitted(all, name)) return a;
    return nullptr;
  };
  if (s.inter) return first_of({"across"});
  switch (s.what) {
    case collective::barrier:
      return first_of({"dissemination", "tree"});
    case collective::bcast:
    case collective::reduce:
    case collective::gather:
    case collective::scatter:
      return first_of({"knomial"});
    case collective::allreduce:
      return s.bytes() > 64 * 1024 ? first_of({"ring", "recursive_doubling"})
                                   : first_of({"recursive_doubling"});
    case collective::gatherv:
    case collective::scatterv:
      return first_of({"linear"});
    case collective::allgather:
      return first_of({s.bytes() * static_cast<std::size_t>(s.ranks) > 32 * 1024 ? "ring" : "bruck"});
    case collective::allgatherv:
      return first_of({"ring"});
    case collective::alltoall:
      return first_of({"pairwise", "in_place_exchange"});
    case collective::alltoallv:
    case collective::alltoallw:
      return first_of({"scattered", "in_place_pairwise"});
    case collective::reduce_scatter:
    case collective::reduce_scatter_block:
      return first_of({"pairwise", "recursive_doubling"});
    case collective::scan:
    case collective::exscan:
      return first_of({"recursive_doubling", "linear"});
    case collective::neighbor_allgatherv:
    case collective::neighbor_alltoallv:
      return first_of({"scattered"});
  }
  return nullptr;
}

}  // namespace

choice choose(const selection_context& s) {
  if (s.may_be_native() && !s.call.inter) return {};
  if (const pure_algorithm* a = best_pure(s)) return choice(a);
  throw usage_error(std::string(name_of(s.call.what)), -1, "", "no algorithm serves this call here",
                    "use a commutative operator, or buffers that are not in place");
}

}  // namespace tutti::detail

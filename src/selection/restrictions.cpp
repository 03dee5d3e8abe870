// SPDX-License-Identifier: Apache-2.0
#include "selection/restrictions.hpp"

namespace tutti::detail {
namespace {

// Describes why a call does not have the required value.
using reason = std::string (*)(const selection_context&);

struct meaning {
  restriction which;
  condition what;
  bool value;
  reason why;
};
constexpr meaning meanings[] = {
    {restriction::inter, condition::inter, true,
     [](const selection_context&) -> std::string { return "it works between two groups only"; }},
    {restriction::power_of_two, condition::power_of_two, true,
     [](const selection_context& s) {
       return "it requires a power of two, not " + std::to_string(s.call.ranks) + " ranks";
     }},
    {restriction::even_ranks, condition::even_ranks, true,
     [](const selection_context& s) {
       return "it requires an even number of ranks, not " + std::to_string(s.call.ranks);
     }},
    {restriction::commutative, condition::commutative, true,
     [](const selection_context&) -> std::string {
       return "it requires an operator that is declared commutative (ops::commutative, or a standard "
              "functor)";
     }},
    {restriction::builtin_op, condition::builtin_op, true,
     [](const selection_context&) -> std::string {
       return "it requires a standard operator on a standard type";
     }},
    {restriction::not_in_place, condition::in_place, false,
     [](const selection_context&) -> std::string { return "it does not work in place"; }},
    {restriction::in_place, condition::in_place, true,
     [](const selection_context&) -> std::string { return "it works in place only"; }},
    {restriction::count_ge_ranks, condition::count_ge_ranks, true,
     [](const selection_context& s) {
       return is_vector_form(s.call.what)
                  ? std::string("it requires a number of elements that all ranks know")
                  : "it requires at least as many elements as ranks, not " + std::to_string(s.call.count) +
                        " for " + std::to_string(s.call.ranks);
     }},
    {restriction::hierarchical, condition::hierarchical, true,
     [](const selection_context& s) -> std::string {
       return s.nodes <= 1 ? "it requires several nodes, but all ranks are on one"
                           : "it requires a node of several ranks, but every rank is alone on its node";
     }},
    {restriction::equal_nodes, condition::equal_nodes, true,
     [](const selection_context&) -> std::string {
       return "it requires the same number of ranks on every node, but the numbers differ";
     }},
    {restriction::node_consecutive, condition::node_consecutive, true,
     [](const selection_context&) -> std::string {
       return "it requires that the ranks of each node are consecutive, but they are scattered";
     }},
    {restriction::rank_order, condition::rank_order, true,
     [](const selection_context&) -> std::string {
       return "it combines node by node, which would change the order of operands: the ranks of a node are "
              "not consecutive, and the operator is not declared commutative";
     }},
    {restriction::host_memory, condition::host_memory, true,
     [](const selection_context&) -> std::string { return "it requires buffers in the host's memory"; }},
    {restriction::peer_readable, condition::peer_readable, true,
     [](const selection_context&) -> std::string {
       return "it requires ranks that read one another's memory, but these ranks send messages";
     }},
    {restriction::parent, condition::parent, true,
     [](const selection_context&) -> std::string {
       return "it requires the whole job, but this is a part of it";
     }},
};

std::uint32_t region_of(const algorithm_parameter_values& parameter_values) noexcept {
  return parameter_values[static_cast<std::size_t>(algorithm_parameter::region)];
}

// All requirements except that of equal_regions.
literals literals_of(const catalogue_entry& entry,
                     const algorithm_parameter_values& parameter_values) noexcept {
  literals all;
  const reach needed = entry.reach_with(parameter_values);
  if (needed == reach::any_rank) all.demand(condition::any_rank, true);
  if (has_log_hops(needed)) all.demand(condition::log_hops, true);
  if (wraps_around(needed)) all.demand(condition::wraps, true);
  all.demand(condition::inter, false);  // an algorithm without inter serves calls within one group
  for (const meaning& m : meanings)
    if (has_restriction(entry.restrictions, m.which)) all.demand(m.what, m.value);
  return all;
}
bool region_fits(const catalogue_entry& entry, const algorithm_parameter_values& parameter_values,
                 const selection_context& s) noexcept {
  const std::uint32_t region = region_of(parameter_values);
  return !has_restriction(entry.restrictions, restriction::equal_regions) ||
         (region != 0 && static_cast<std::uint32_t>(s.call.ranks) % region == 0);
}

}  // namespace

demand demands_of(const catalogue_entry& entry, const algorithm_parameter_values& parameter_values) {
  demand d{literals_of(entry, parameter_values), {}};
  if (has_restriction(entry.restrictions, restriction::equal_regions)) {
    const std::uint32_t region = region_of(parameter_values);
    if (region == 2)
      d.conditions.demand(condition::even_ranks, true);
    else if (region != 1)
      d.beyond = "region = " + std::to_string(region) +
                 " divides the number of ranks, which no condition can express";
  }
  return d;
}

bool meets_demands(const catalogue_entry& entry, const algorithm_parameter_values& parameter_values,
                   const selection_context& s) noexcept {
  // also for collectives that have no form between groups
  if (s.call.inter && !has_restriction(entry.restrictions, restriction::inter)) return false;
  return entry.what == s.call.what && literals_of(entry, parameter_values).hold(conditions_of(s)) &&
         region_fits(entry, parameter_values, s);
}

std::string unmet_demands(const catalogue_entry& entry, const algorithm_parameter_values& parameter_values,
                          const selection_context& s) {
  std::string text;
  const auto report = [&](const std::string& one) { text += (text.empty() ? "" : "; ") + one; };
  if (entry.what != s.call.what) return "it is not an algorithm for " + std::string(name_of(s.call.what));
  const condition_bits truth = conditions_of(s);
  if (s.call.inter && !has_restriction(entry.restrictions, restriction::inter))
    report("it does not work between two groups");
  if (const reach needed = entry.reach_with(parameter_values); !includes(s.reaches, needed))
    report("it sends to " + std::string(description_of(needed)) + ", but the ranks of this group know only " +
           std::string(description_of(s.reaches)));
  for (const meaning& m : meanings)
    if (has_restriction(entry.restrictions, m.which) && ((truth & bit(m.what)) != 0) != m.value)
      report(m.why(s));
  if (!region_fits(entry, parameter_values, s))
    report("its region of " + std::to_string(region_of(parameter_values)) + " does not divide " +
           std::to_string(s.call.ranks) + " ranks");
  return text;
}

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// Describes one algorithm: its name, its restrictions, formulas of its costs, and the function that
// writes its schedule. The build reads everything but the function from the comment at the head of
// the algorithm's file (cmake/catalogue.cmake). So the source, the output of `tutti list` and the
// proof share one text.
#pragma once

#include <span>
#include <string_view>

#include "base/group/reach.hpp"
#include "schedule/builder.hpp"
#include "tutti/collective.hpp"

namespace tutti::detail {

/// The requirements of an algorithm on a call, as a set of bits. The enumerators are the names in
/// the heads of the files (cmake/catalogue.cmake); restriction_names explains them.
enum class restriction : std::uint32_t {
  none = 0,
  power_of_two = 1u << 0,
  commutative = 1u << 1,
  builtin_op = 1u << 2,
  not_in_place = 1u << 3,
  even_ranks = 1u << 4,
  count_ge_ranks = 1u << 5,
  in_place = 1u << 6,
  equal_regions = 1u << 7,
  inter = 1u << 8,
  hierarchical = 1u << 9,
  equal_nodes = 1u << 10,
  node_consecutive = 1u << 11,
  rank_order = 1u << 12,
  parent = 1u << 13,
  host_memory = 1u << 14,
  peer_readable = 1u << 15,
};
constexpr restriction operator|(restriction a, restriction b) {
  return static_cast<restriction>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool has_restriction(restriction all, restriction one) {
  return (static_cast<std::uint32_t>(all) & static_cast<std::uint32_t>(one)) != 0;
}

struct restriction_name {
  restriction which;
  std::string_view name;  ///< as in the heads of the files and in the trees
  std::string_view what;  ///< a statement that is true for a call that meets the restriction
};
inline constexpr restriction_name restriction_names[] = {
    {restriction::power_of_two, "power_of_two", "the number of ranks is a power of two"},
    {restriction::even_ranks, "even_ranks", "the number of ranks is even"},
    // The parameter `region` is a number of consecutive ranks that are near one another.
    {restriction::equal_regions, "equal_regions", "the parameter `region` divides the number of ranks"},
    {restriction::count_ge_ranks, "count_ge_ranks", "there are at least as many elements as ranks"},
    {restriction::commutative, "commutative", "the operator commutes"},
    {restriction::builtin_op, "builtin_op", "the operator is predefined"},
    {restriction::in_place, "in_place", "the call is in place"},
    {restriction::not_in_place, "not_in_place", "the call is not in place"},
    // Algorithms without this restriction serve calls within one group.
    {restriction::inter, "inter", "the call is between the two groups of an intercommunicator"},
    {restriction::hierarchical, "hierarchical", "there are several nodes, and one of them has several ranks"},
    {restriction::equal_nodes, "equal_nodes", "every node has the same number of ranks"},
    {restriction::node_consecutive, "node_consecutive", "the ranks of every node are consecutive"},
    {restriction::rank_order, "rank_order",
     "combining node by node keeps the order of operands: the ranks of every node are consecutive, or the "
     "operator commutes, or the call has no operator"},
    {restriction::parent, "parent", "the group is the whole job"},
    {restriction::host_memory, "host_memory", "the buffers are in the host's memory"},
    {restriction::peer_readable, "peer_readable", "the ranks read one another's buffers"}};

/// A parameter of an algorithm, with its default and its inclusive range.
struct algorithm_parameter_range {
  algorithm_parameter which;
  std::uint32_t default_value, min, max;
  std::string_view what;
};

/// States which ranks an algorithm sends to and receives from, in every call that it serves. If
/// `value` is not 0, the claim holds only for that value of the parameter `with`. For other values
/// the algorithm may reach any rank.
struct reach_claim {
  reach to = reach::any_rank;
  algorithm_parameter with = algorithm_parameter::k;  // ignored if value is 0
  std::uint32_t value = 0;
};

/// The part of a file head that algorithms and compositions share. Only algorithms have formulas of
/// their costs, because a composition consists of calls of other collectives.
struct catalogue_entry {
  std::string_view name;  ///< "allreduce/ring"
  collective what = collective::barrier;
  restriction restrictions = restriction::none;
  reach_claim claimed_reach{};
  std::string_view idea;  ///< what the algorithm does, in words
  std::string_view source, good_for;
  std::span<const algorithm_parameter_range> parameters;

  std::string_view short_name() const noexcept { return name.substr(name.find('/') + 1); }
  reach reach_with(const algorithm_parameter_values& parameter_values) const noexcept {
    const reach_claim& c = claimed_reach;
    return c.value == 0 || parameter_values[static_cast<std::size_t>(c.with)] == c.value ? c.to
                                                                                         : reach::any_rank;
  }
  algorithm_parameter_values default_values() const noexcept {
    algorithm_parameter_values all{};
    for (const algorithm_parameter_range& p : parameters)
      all[static_cast<std::size_t>(p.which)] = p.default_value;
    return all;
  }
};

struct pure_algorithm : catalogue_entry {
  std::string_view rounds, bytes, scratch;  ///< formulas (proof/formula.hpp)
  void (*write)(const shape&, builder&) = nullptr;
};

/// Returns all algorithms, sorted by name. The build generates it (cmake/catalogue.cmake).
std::span<const pure_algorithm* const> catalogue() noexcept;

}  // namespace tutti::detail

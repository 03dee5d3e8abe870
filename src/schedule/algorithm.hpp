// SPDX-License-Identifier: Apache-2.0
//
// Describes one algorithm: its name, its restrictions, its costs, and the function that writes its
// schedule. The build reads everything but the function from the comment at the head of the
// algorithm's file (cmake/catalogue.cmake). So the source, the output of `tutti list` and the proof
// share one text.
#pragma once

#include <span>
#include <string_view>

#include "base/group/reach.hpp"
#include "schedule/builder.hpp"
#include "tutti/collective.hpp"

namespace tutti {

/// What an algorithm requires of a call, as a set of bits. restriction_names explains each bit.
enum class restriction : std::uint32_t {
  none = 0,
  power_of_two = 1u << 0,
  commutative = 1u << 1,
  builtin_op = 1u << 2,
  not_in_place = 1u << 3,
  even_ranks = 1u << 5,
  count_ge_ranks = 1u << 6,
  in_place = 1u << 8,
  equal_regions = 1u << 9,
  inter = 1u << 10,
  hierarchical = 1u << 11,
  equal_nodes = 1u << 12,
  node_consecutive = 1u << 13,
  rank_order = 1u << 14,
  host_memory = 1u << 16,
  peer_readable = 1u << 17,
  parent = 1u << 15,
};
constexpr restriction operator|(restriction a, restriction b) {
  return static_cast<restriction>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
constexpr bool demands(restriction all, restriction one) {
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
    {restriction::equal_regions, "equal_regions", "the parameter `region` divides the number of ranks"},
    {restriction::count_ge_ranks, "count_ge_ranks", "there are at least as many elements as ranks"},
    {restriction::commutative, "commutative", "the operator commutes"},
    {restriction::builtin_op, "builtin_op", "the operator is one of the library"},
    {restriction::in_place, "in_place", "the call is in place"},
    {restriction::not_in_place, "not_in_place", "the call is not in place"},
    {restriction::inter, "inter",
     "the call is between two groups; algorithms without it serve calls within one"},
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
  std::uint32_t default_value, least, most;
  std::string_view what;
};

/// States which ranks an algorithm sends to and receives from, in every call that it serves. If
/// `value` is not 0, the claim holds only for that value of the parameter `with`. For other values
/// the algorithm may reach any rank.
struct reach_claim {
  reach to = reach::any_rank;
  algorithm_parameter with = algorithm_parameter::k;
  std::uint32_t value = 0;
};

/// The content of a file head, for an algorithm or a composition.
struct catalogue_entry {
  std::string_view name;  ///< "allreduce/ring"
  collective what = collective::barrier;
  restriction needs = restriction::none;
  reach_claim reaches{};
  std::string_view idea, source, good_for;
  std::span<const algorithm_parameter_range> parameters;

  std::string_view short_name() const noexcept { return name.substr(name.find('/') + 1); }
  reach reach_with(const algorithm_parameter_values& parameter_values) const noexcept {
    return reaches.value == 0 || parameter_values[static_cast<std::size_t>(reaches.with)] == reaches.value
               ? reaches.to
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

}  // namespace tutti

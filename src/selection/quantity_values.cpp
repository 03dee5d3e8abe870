// SPDX-License-Identifier: Apache-2.0
#include "selection/quantity_values.hpp"

#include <algorithm>
#include <bit>

namespace tutti::detail {
namespace {

constexpr std::size_t at(quantity q) noexcept { return static_cast<std::size_t>(q); }

bool is(const literals& when, condition c, bool value) noexcept {
  return (when.mask & bit(c)) && ((when.values & bit(c)) != 0) == value;
}

constexpr bool of_elements(quantity q) noexcept {
  return q == quantity::bytes || q == quantity::total_bytes || q == quantity::count;
}

// Saturates on overflow.
constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
  std::uint64_t c = 0;
  return __builtin_mul_overflow(a, b, &c) ? std::numeric_limits<std::uint64_t>::max() : c;
}

// Returns whether a number of ranks in the range meets the even_ranks and power_of_two literals of
// `when`.
bool admits_ranks(const literals& when, const value_range& ranks) noexcept {
  constexpr std::uint64_t max_ranks = std::uint64_t{1} << 31;
  for (std::uint64_t p = ranks.min; p <= ranks.max && p - ranks.min < 8; ++p)
    if (!is(when, condition::even_ranks, p % 2 != 0) &&
        !is(when, condition::power_of_two, !std::has_single_bit(p)))
      return true;
  if (ranks.max < ranks.min || ranks.max - ranks.min < 8) return false;
  // A longer range contains even and odd numbers, and numbers that are not powers of two.
  if (!is(when, condition::power_of_two, true)) return true;
  if (is(when, condition::even_ranks, false)) return ranks.min <= 1;
  return ranks.min < max_ranks && std::bit_ceil(ranks.min) <= ranks.max;
}

// Of equal nodes with a power of two of ranks in all, both the number and the size are powers of
// two. The size is 0 if it is not known.
bool admits_equal_nodes(const literals& when, const value_range& nodes_or_size) noexcept {
  if (!is(when, condition::power_of_two, true) || !is(when, condition::equal_nodes, true)) return true;
  return nodes_or_size.min == 0 || nodes_or_size.min > std::uint64_t{1} << 31 ||
         std::bit_ceil(nodes_or_size.min) <= nodes_or_size.max;
}

// The quantities bound one another.
bool consistent(collective what, const value_ranges& r) noexcept {
  const value_range &bytes = r[at(quantity::bytes)], &total = r[at(quantity::total_bytes)],
                    &count = r[at(quantity::count)], &ranks = r[at(quantity::ranks)],
                    &nodes = r[at(quantity::nodes)], &per_node = r[at(quantity::ranks_per_node)];
  if (nodes.min > ranks.max || per_node.min > ranks.max) return false;
  if (per_node.min > 0 && product(per_node.min, nodes.min) > ranks.max) return false;
  // the length of a block and the total are never both known
  if (is_vector_form(what)) return true;
  if (count.min > bytes.max) return false;  // an element has at least one byte
  if (count.max == 0 && bytes.min > 0) return false;
  const value_range blocks = has_blocks(what) ? ranks : value_range{1, 1};
  return product(bytes.min, blocks.min) <= total.max && product(bytes.max, blocks.max) >= total.min;
}

}  // namespace

const char* why_unknown(quantity q, collective what, const literals& when) noexcept {
  if (!of_elements(q)) return "";
  if (what == collective::barrier) return "a barrier has no elements";
  if (is(when, condition::inter, true))
    return "between two groups the ranks do not all know the number of elements";
  if (!is_vector_form(what)) return "";
  if (q != quantity::total_bytes) return "the blocks have different lengths";
  return has_agreed_counts(what) ? "" : "only the root, or no rank, knows the counts of all ranks";
}

value_ranges all_values(collective what, const literals& when) noexcept {
  value_ranges all;
  for (const quantity_entry& e : quantities()) {
    all[at(e.which)].min = e.min;
    if (*why_unknown(e.which, what, when) != '\0') all[at(e.which)].max = 0;
  }
  if (is(when, condition::inter, true)) all[at(quantity::ranks)].min = 2;
  if (is(when, condition::hierarchical, true) || is(when, condition::equal_nodes, false) ||
      is(when, condition::node_consecutive, false))
    all[at(quantity::nodes)].min = 2;
  // Nodes of one rank and of two.
  if (is(when, condition::hierarchical, true) || is(when, condition::equal_nodes, false))
    all[at(quantity::ranks)].min = 3;
  if (is(when, condition::equal_nodes, false)) all[at(quantity::ranks_per_node)].max = 0;
  if (is(when, condition::hierarchical, true) && is(when, condition::equal_nodes, true)) {
    all[at(quantity::ranks_per_node)].min = 2;
    all[at(quantity::ranks)].min = 4;
  }
  if (is(when, condition::count_ge_ranks, true))
    for (const quantity q : {quantity::bytes, quantity::total_bytes, quantity::count}) all[at(q)].min = 1;
  return all;
}

bool possible(collective what, const literals& when, const value_ranges& within) noexcept {
  const value_ranges all = all_values(what, when);
  value_ranges r = within;
  for (std::size_t q = 0; q < quantity_count; ++q) {
    r[q].min = std::max(r[q].min, all[q].min);
    r[q].max = std::min(r[q].max, all[q].max);
    if (r[q].empty()) return false;
  }
  const value_range &ranks = r[at(quantity::ranks)], &count = r[at(quantity::count)],
                    &per_node = r[at(quantity::ranks_per_node)];
  if (is(when, condition::hierarchical, true) && per_node == value_range{1, 1}) return false;
  if (is(when, condition::equal_nodes, true) && r[at(quantity::nodes)].min > 1 && per_node.max == 0)
    return false;
  if (is(when, condition::count_ge_ranks, true) && count.max < ranks.min) return false;
  if (is(when, condition::count_ge_ranks, false) && !is_vector_form(what) && count.min >= ranks.max)
    return false;
  return consistent(what, r) && admits_ranks(when, ranks) && admits_equal_nodes(when, per_node) &&
         admits_equal_nodes(when, r[at(quantity::nodes)]);
}

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
#include "selection/conditions.hpp"

#include <array>
#include <bit>
#include <limits>

namespace tutti::detail {
namespace {

constexpr bool has_inter_form(collective what) noexcept {
  return what != collective::scan && what != collective::exscan && !is_neighborhood(what);
}
constexpr bool is_inter(const selection_context& s) noexcept {
  return s.call.inter && has_inter_form(s.call.what);
}

constexpr std::array<condition_entry, 23> condition_table = {{
    {condition::power_of_two, "power_of_two", "the number of ranks is a power of two",
     [](const selection_context& s) noexcept {
       return s.call.ranks > 0 && std::has_single_bit(static_cast<unsigned>(s.call.ranks));
     }},
    {condition::even_ranks, "even_ranks", "the number of ranks is even",
     [](const selection_context& s) noexcept { return s.call.ranks % 2 == 0; }},
    {condition::commutative, "commutative", "the operator commutes, or the call has no operator",
     [](const selection_context& s) noexcept { return s.call.commutative || !combines(s.call.what); }},
    {condition::builtin_op, "builtin_op", "the operator is one that the library and MPI know by name",
     [](const selection_context& s) noexcept {
       return combines(s.call.what) && s.call.op != builtin_op::user;
     }},
    {condition::in_place, "in_place", "every rank's operand is in its result buffer",
     [](const selection_context& s) noexcept { return s.call.in_place; }},
    {condition::inter, "inter", "the call is between two groups", is_inter},
    {condition::native, "native", "the engine has a collective of its own for the call",
     [](const selection_context& s) noexcept { return s.native && !is_inter(s); }},
    {condition::shared_memory, "shared_memory", "the ranks read one another's memory",
     [](const selection_context& s) noexcept { return s.shared_memory; }},
    {condition::hierarchical, "hierarchical", "there are several nodes, and at least one has several ranks",
     [](const selection_context& s) noexcept { return s.nodes > 1 && s.ranks_per_node != 1; }},
    {condition::node_consecutive, "node_consecutive", "the ranks of every node are consecutive",
     [](const selection_context& s) noexcept { return s.node_consecutive; }},
    {condition::block_regular, "block_regular",
     "all blocks have the same length: the call is not a vector form",
     [](const selection_context& s) noexcept { return !is_vector_form(s.call.what); }},
    {condition::contiguous, "contiguous", "the elements of a block have no gaps",
     [](const selection_context&) noexcept { return true; }},
    {condition::host_memory, "host_memory", "the buffers are in host memory",
     [](const selection_context&) noexcept { return true; }},
    {condition::peer_readable, "peer_readable", "peers can read the buffers directly",
     [](const selection_context& s) noexcept { return s.shared_memory; }},
    {condition::any_rank, "any_rank", "the group can send to any of its ranks",
     [](const selection_context& s) noexcept { return s.reaches == reach::any_rank; }},
    {condition::count_ge_ranks, "count_ge_ranks", "a block has at least as many elements as there are ranks",
     [](const selection_context& s) noexcept {
       return !is_vector_form(s.call.what) && s.call.count >= static_cast<std::size_t>(s.call.ranks);
     }},
    {condition::parent, "parent", "the group is the whole job",
     [](const selection_context& s) noexcept { return s.whole_job; }},
    {condition::equal_nodes, "equal_nodes", "every node has the same number of ranks",
     [](const selection_context& s) noexcept { return s.nodes <= 1 || s.ranks_per_node != 0; }},
    {condition::rank_order, "rank_order",
     "operands that are combined node by node keep their order, or the order does not matter",
     [](const selection_context& s) noexcept {
       return s.node_consecutive || s.call.commutative || !combines(s.call.what);
     }},
    {condition::device_memory, "device_memory", "a buffer is in device memory",
     [](const selection_context&) noexcept { return false; }},
    {condition::log_hops, "log_hops", "the group can send to the ranks 1, 2, 4 ... hops away",
     [](const selection_context& s) noexcept { return has_log_hops(s.reaches); }},
    {condition::neighbors, "neighbors", "the group can send to the next rank on either side",
     [](const selection_context&) noexcept { return true; }},
    {condition::wraps, "wraps", "the group can send from its last ranks to the first",
     [](const selection_context& s) noexcept { return wraps_around(s.reaches); }},
}};

constexpr std::array<consequence, 13> consequence_table = {{
    {condition::host_memory, true, condition::device_memory, false},
    {condition::host_memory, false, condition::device_memory, true},
    {condition::any_rank, true, condition::log_hops, true},
    {condition::any_rank, true, condition::wraps, true},
    {condition::log_hops, true, condition::neighbors, true},
    {condition::node_consecutive, true, condition::rank_order, true},
    {condition::commutative, true, condition::rank_order, true},
    {condition::hierarchical, false, condition::equal_nodes, true},
    {condition::native, true, condition::any_rank, true},
    // no engine has collectives between groups
    {condition::inter, true, condition::native, false},
    {condition::inter, true, condition::count_ge_ranks, false},  // no count is known to both groups
    {condition::peer_readable, true, condition::shared_memory, true},
    {condition::shared_memory, true, condition::peer_readable, true},
}};

constexpr std::uint64_t product(std::uint64_t a, std::uint64_t b) noexcept {
  return b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b
             ? std::numeric_limits<std::uint64_t>::max()
             : a * b;
}
constexpr std::uint64_t bytes(const selection_context& s) noexcept {
  return product(s.call.count, s.call.element_size);
}
constexpr std::uint64_t positive(int n) noexcept { return n < 0 ? 0 : static_cast<std::uint64_t>(n); }

constexpr std::array<quantity_entry, quantity_count> quantity_table = {{
    {quantity::bytes, "bytes", "of a block, or of the whole vector if there are no blocks; 0 in vector forms",
     0, bytes},
    {quantity::total_bytes, "total_bytes",
     "of the blocks of all ranks, or of the whole vector; in vector forms only of allgatherv and "
     "reduce_scatter, whose counts all ranks know, else 0",
     0,
     [](const selection_context& s) noexcept {
       return is_vector_form(s.call.what) ? s.call.total_bytes
              : has_blocks(s.call.what)   ? product(bytes(s), positive(s.call.ranks))
                                          : bytes(s);
     }},
    {quantity::count, "count", "the elements of a block; 0 in vector forms", 0,
     [](const selection_context& s) noexcept { return std::uint64_t{s.call.count}; }},
    {quantity::ranks, "ranks", "of the group, or of both groups in a call between two groups", 1,
     [](const selection_context& s) noexcept { return positive(s.call.ranks); }},
    {quantity::ranks_per_node, "ranks_per_node", "0 if the nodes have different numbers of ranks", 0,
     [](const selection_context& s) noexcept {
       return positive(s.nodes <= 1 ? s.call.ranks : s.ranks_per_node);
     }},
    {quantity::nodes, "nodes", "on which the group has ranks", 1,
     [](const selection_context& s) noexcept { return positive(s.nodes); }},
}};

template <class Table>
constexpr bool in_order(const Table& table) {
  for (std::size_t i = 0; i < table.size(); ++i)
    if (static_cast<std::size_t>(table[i].which) != i) return false;
  return true;
}
static_assert(in_order(condition_table) && in_order(quantity_table));

}  // namespace

std::span<const condition_entry> conditions() noexcept { return condition_table; }
std::span<const quantity_entry> quantities() noexcept { return quantity_table; }
std::span<const consequence> consequences() noexcept { return consequence_table; }

std::optional<condition> find_condition(std::string_view name,
                                        std::span<const declared_condition> more) noexcept {
  for (const condition_entry& e : condition_table)
    if (e.name == name) return e.which;
  for (std::size_t i = 0; i < more.size() && i < max_declared; ++i)
    if (more[i].name == name) return declared(i);
  return std::nullopt;
}
std::optional<quantity> find_quantity(std::string_view name) noexcept {
  for (const quantity_entry& e : quantity_table)
    if (e.name == name) return e.which;
  return std::nullopt;
}
std::string_view name_of(condition c, std::span<const declared_condition> more) noexcept {
  const auto i = static_cast<std::size_t>(c);
  if (i < condition_table.size()) return condition_table[i].name;
  const std::size_t index = i - static_cast<std::size_t>(condition::first_declared);
  return is_declared(c) && index < more.size() ? std::string_view(more[index].name) : "?";
}
std::string_view name_of(quantity q) noexcept { return quantity_table[static_cast<std::size_t>(q)].name; }

condition_bits conditions_of(const selection_context& s) noexcept {
  condition_bits all = condition_bits{s.engine} << static_cast<unsigned>(condition::first_declared);
  for (const condition_entry& e : condition_table)
    if (e.holds(s)) all |= bit(e.which);
  return all;
}

std::uint64_t value_of(quantity q, const selection_context& s) noexcept {
  return quantity_table[static_cast<std::size_t>(q)].value(s);
}

std::string to_string(const literals& some, std::span<const declared_condition> more) {
  std::string text;
  for_each_condition(some.mask, [&](condition c) {
    text += (text.empty() ? "" : ", ") + std::string(name_of(c, more)) +
            (some.values & bit(c) ? " = true" : " = false");
  });
  return text;
}

literals fixed_conditions(collective what) noexcept {
  literals fixed;
  fixed.demand(condition::neighbors, true);
  if (!combines(what)) {
    fixed.demand(condition::commutative, true);
    fixed.demand(condition::builtin_op, false);
    fixed.demand(condition::rank_order, true);
  }
  if (!has_inter_form(what)) fixed.demand(condition::inter, false);
  fixed.demand(condition::block_regular, !is_vector_form(what));
  if (is_vector_form(what)) fixed.demand(condition::count_ge_ranks, false);
  return fixed;
}

}  // namespace tutti::detail

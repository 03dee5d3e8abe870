// SPDX-License-Identifier: Apache-2.0
//
// What a decision tree may ask of a call: discrete conditions, which divide the calls into regions, and
// ordered quantities, whose thresholds choose within a region. One table each, for trees, documents and
// suggestions.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/agreed_signature.hpp"
#include "base/group/hierarchy.hpp"
#include "base/group/reach.hpp"

namespace tutti {

/// All that selection may know of a call: what every rank knows alike.
struct selection_context {
  agreed_signature call;
  bool native = false;          ///< the engine offers its own collective for this call
  bool native_by_name = false;  ///< ... and only where it is named (native_offer::by_name)
  bool shared_memory = false;   ///< ranks read one another's memory
  int nodes = 1;
  int ranks_per_node = 0;  ///< 0 where the nodes have different numbers; of one node it need not be given
  bool node_consecutive = true;
  bool whole_job = true;
  reach reaches = reach::any_rank;  ///< which ranks the members of the group know
  std::uint32_t engine = 0;  ///< which of the engine's own conditions hold: bit i is document::conditions[i]

  void offer(native_offer o) noexcept {
    native = o != native_offer::none;
    native_by_name = o == native_offer::by_name;
  }
  /// Whether a tree or the library may choose the engine's own collective.
  bool may_be_native() const noexcept { return native && !native_by_name; }

  /// What of a layout selection may know.
  void lie_on(const hierarchy& layout) noexcept {
    nodes = layout.nodes();
    ranks_per_node = layout.ranks_per_node();
    node_consecutive = layout.consecutive();
  }
};

/// What the library itself knows to ask, in the order of the table. An engine may have more of them
/// (declared_condition), which follow from `first_declared` on.
enum class condition : std::uint8_t {
  power_of_two,
  even_ranks,
  commutative,
  builtin_op,
  in_place,
  inter,
  native,
  shared_memory,
  hierarchical,
  node_consecutive,
  block_regular,
  contiguous,
  host_memory,
  peer_readable,
  any_rank,
  count_ge_ranks,
  parent,
  equal_nodes,
  rank_order,
  device_memory,
  log_hops,
  neighbors,
  wraps,
  first_declared = 32
};
struct condition_entry {
  condition which;
  std::string_view name, meaning;
  bool (*holds)(const selection_context&) noexcept;
};
std::span<const condition_entry> conditions() noexcept;

/// A condition that an engine registers by name and a document declares, as it is to use it.
struct declared_condition {
  std::string name, meaning;

  friend bool operator==(const declared_condition&, const declared_condition&) = default;
};
inline constexpr std::size_t max_declared = 32;  ///< of a document; one that is read declares fewer
constexpr condition declared(std::size_t i) noexcept {
  return static_cast<condition>(static_cast<std::size_t>(condition::first_declared) + i);
}
constexpr bool is_declared(condition c) noexcept { return c >= condition::first_declared; }

std::optional<condition> find_condition(std::string_view name,
                                        std::span<const declared_condition> more = {}) noexcept;
std::string_view name_of(condition, std::span<const declared_condition> more = {}) noexcept;

/// A set of conditions, or a truth value for each.
using condition_bits = std::uint64_t;
constexpr condition_bits bit(condition c) noexcept { return condition_bits{1} << static_cast<unsigned>(c); }
/// Those that hold.
condition_bits conditions_of(const selection_context&) noexcept;
/// The kind of group. A tree's region that asks none of these is about groups that can send to any of their
/// ranks; where it would send others further than they can, they run the fallback in code.
inline constexpr condition_bits reach_conditions =
    bit(condition::any_rank) | bit(condition::log_hops) | bit(condition::neighbors) | bit(condition::wraps);
/// Calls `each` with every condition of a set, in their order.
template <class F>
void for_each_condition(condition_bits set, F&& each) {
  for (; set != 0; set &= set - 1) each(static_cast<condition>(std::countr_zero(set)));
}

/// Some conditions that must hold and some that must not: `values` within `mask`.
struct literals {
  condition_bits mask = 0, values = 0;

  bool hold(condition_bits truth) const noexcept { return (truth & mask) == values; }
  void demand(condition c, bool value) noexcept {
    mask |= bit(c);
    values = value ? values | bit(c) : values & ~bit(c);
  }
  friend bool operator==(const literals&, const literals&) = default;
};
/// "commutative = true, in_place = false"
std::string to_string(const literals&, std::span<const declared_condition> more = {});

/// What no call of a collective can break: some conditions are fixed for it, and where the first of a pair
/// holds the second does as `value` says. conditions_of() obeys it.
literals fixed_conditions(collective what) noexcept;
struct consequence {
  condition first;
  bool first_value;
  condition second;
  bool second_value;
};
std::span<const consequence> consequences() noexcept;

/// One block for each rank, all of one length.
constexpr bool has_blocks(collective what) noexcept {
  return what == collective::gather || what == collective::scatter || what == collective::allgather ||
         what == collective::alltoall || what == collective::reduce_scatter_block;
}

/// The order is that of the table.
enum class quantity : std::uint8_t { bytes, total_bytes, count, ranks, ranks_per_node, nodes };
inline constexpr std::size_t quantity_count = 6;
struct quantity_entry {
  quantity which;
  std::string_view name, meaning;
  std::uint64_t least;
  std::uint64_t (*value)(const selection_context&) noexcept;
};
std::span<const quantity_entry> quantities() noexcept;
std::optional<quantity> find_quantity(std::string_view name) noexcept;
std::string_view name_of(quantity) noexcept;
std::uint64_t value_of(quantity, const selection_context&) noexcept;

}  // namespace tutti

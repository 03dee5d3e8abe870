// SPDX-License-Identifier: Apache-2.0
//
// Declares what a decision tree may test: discrete conditions, which divide the calls into regions,
// and ordered quantities, whose thresholds decide within a region. Trees, documents and suggestions
// share one table of each.
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

namespace tutti::detail {

/// All that selection may read: values on which all ranks agree.
struct selection_context {
  agreed_signature call;
  bool native = false;          ///< the engine offers its native collective for this call
  bool native_by_name = false;  ///< ... and only to calls that name it (native_offer::by_name)
  bool shared_memory = false;   ///< ranks read one another's memory
  int nodes = 1;
  /// 0 if the nodes have different numbers of ranks; not read if there is one node
  int ranks_per_node = 0;
  bool node_consecutive = true;
  bool whole_job = true;
  reach reaches = reach::any_rank;  ///< which ranks the members of the group know
  /// bit i is set if the engine's condition document::conditions[i] holds
  std::uint32_t engine = 0;

  void offer(native_offer o) noexcept {
    native = o != native_offer::none;
    native_by_name = o == native_offer::by_name;
  }
  /// Returns whether a tree or the library may choose the native collective.
  bool may_be_native() const noexcept { return native && !native_by_name; }

  /// Copies the values of a topology that selection may read.
  void set_topology(const hierarchy& topology) noexcept {
    nodes = topology.nodes();
    ranks_per_node = topology.ranks_per_node();
    node_consecutive = topology.consecutive();
  }
};

/// The conditions of the library, in the order of the table. An engine may declare more
/// (declared_condition), which have the values from `first_declared` on.
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

/// A condition that an engine registers by name. A document must declare it before its regions use
/// it.
struct declared_condition {
  std::string name, meaning;

  friend bool operator==(const declared_condition&, const declared_condition&) = default;
};
/// total; read_tree accepts fewer from one document
inline constexpr std::size_t max_declared = 32;
constexpr condition declared(std::size_t i) noexcept {
  return static_cast<condition>(static_cast<std::size_t>(condition::first_declared) + i);
}
constexpr bool is_declared(condition c) noexcept { return c >= condition::first_declared; }

std::optional<condition> find_condition(std::string_view name,
                                        std::span<const declared_condition> more = {}) noexcept;
std::string_view name_of(condition, std::span<const declared_condition> more = {}) noexcept;

/// A set of conditions, or a truth value for each condition.
using condition_bits = std::uint64_t;
constexpr condition_bits bit(condition c) noexcept { return condition_bits{1} << static_cast<unsigned>(c); }
/// The conditions that hold for a call.
condition_bits conditions_of(const selection_context&) noexcept;
/// The conditions that describe the reach of the group. A region that tests none of them is written
/// for groups that can send to any of their ranks. If it chooses an algorithm that sends further
/// than the group can, the fallback in code decides.
inline constexpr condition_bits reach_conditions =
    bit(condition::any_rank) | bit(condition::log_hops) | bit(condition::neighbors) | bit(condition::wraps);
/// Calls `each` with every condition of a set, in ascending order.
template <class F>
void for_each_condition(condition_bits set, F&& each) {
  for (; set != 0; set &= set - 1) each(static_cast<condition>(std::countr_zero(set)));
}

/// A conjunction: the conditions in `mask` must have the truth values in `values`, which is a
/// subset of `mask`.
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

/// Facts that hold for every call of a collective; conditions_of() respects them.
/// fixed_conditions() returns the conditions whose value is fixed. A `consequence` states: if
/// `first` has `first_value`, then `second` has `second_value`.
literals fixed_conditions(collective what) noexcept;
struct consequence {
  condition first;
  bool first_value;
  condition second;
  bool second_value;
};
std::span<const consequence> consequences() noexcept;

/// Returns whether the collective has one block per rank, all of the same length.
constexpr bool has_blocks(collective what) noexcept {
  return what == collective::gather || what == collective::scatter || what == collective::allgather ||
         what == collective::alltoall || what == collective::reduce_scatter_block;
}

/// In the order of the table.
enum class quantity : std::uint8_t { bytes, total_bytes, count, ranks, ranks_per_node, nodes };
inline constexpr std::size_t quantity_count = 6;
struct quantity_entry {
  quantity which;
  std::string_view name, meaning;
  std::uint64_t min;
  std::uint64_t (*value)(const selection_context&) noexcept;
};
std::span<const quantity_entry> quantities() noexcept;
std::optional<quantity> find_quantity(std::string_view name) noexcept;
std::string_view name_of(quantity) noexcept;
std::uint64_t value_of(quantity, const selection_context&) noexcept;

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// The interface through which a composition writes its composite plan. Every rank makes the same
// calls, whether or not it is a member of their groups, so that sequence numbers agree. The planner
// omits the calls of groups that do not contain this rank. Only agreed values may decide which
// calls exist: the count, the root, the operator, the topology, and counts that all ranks know
// (allgatherv, reduce_scatter). Counts that only some ranks know must not decide it.
#pragma once

#include <utility>

#include "base/group/hierarchy.hpp"
#include "schedule/composite/composite_plan.hpp"
#include "schedule/shape.hpp"
#include "tutti/call.hpp"

// Compositions see the names of this module.
namespace tutti::compositions {
using namespace tutti::detail;
}

namespace tutti::detail {

/// A group of ranks for inner calls. Every rank knows its members.
class subgroup {
 public:
  int size() const noexcept { return size_; }
  bool member() const noexcept { return position_ >= 0; }
  int position() const noexcept { return position_; }  ///< of this rank; -1 if it is not a member

 private:
  friend class planner;
  std::int32_t index_ = 0;
  int size_ = 1, position_ = 0;
};

class planner {
 public:
  using request = std::int32_t;  ///< identifies a started call; -1 if this rank does not take part

  /// If `c` has counts, it must also have displacements. The planner keeps references: all three
  /// objects must outlive it.
  planner(const call& c, int rank, const hierarchy& topology,
          const algorithm_parameter_values& parameter_values);

  // --- the composed call
  const call& requested() const noexcept { return call_; }
  collective what() const noexcept { return call_.what; }
  int size() const noexcept { return topology_.ranks(); }
  int rank() const noexcept { return rank_; }
  int root() const noexcept { return call_.root; }
  std::size_t count() const noexcept { return call_.count; }
  const hierarchy& topology() const noexcept { return topology_; }
  std::size_t of(algorithm_parameter k) const noexcept {
    return parameter_values_[static_cast<std::size_t>(k)];
  }
  /// The number of elements that fit into `bytes` bytes, at least 1.
  std::size_t elements_of(std::size_t bytes) const noexcept;

  area input() const noexcept { return {buffer::input, 0}; }
  area output() const noexcept { return {buffer::output, 0}; }
  /// The position of the local operand or block: the input, or, in place, the part of the output
  /// that `call` names. It does not include the displacement of a vector form.
  area operand() const noexcept;
  /// Allocates a new scratch area of this many elements.
  area scratch(std::size_t elements);

  // --- groups
  subgroup all() noexcept;
  /// The ranks on this rank's node. At level l > 0: the leaders of the nodes of level l - 1 that
  /// lie in this rank's node of level l.
  subgroup node(int level = 0);
  /// The leaders of the nodes of the coarsest level.
  subgroup leaders();
  /// The lane of this rank: if it is the i-th rank of its node (level 0), the i-th ranks of all
  /// nodes. Nodes with fewer ranks are omitted.
  subgroup lane();
  /// A group of these ranks in this order. The list of all ranks in rank order is the same as
  /// `all`.
  subgroup list(std::vector<int> ranks);

  // --- steps
  /// Adds steps that start a call and wait for it.
  void call_on(const subgroup& group, subcall c) { wait(start(group, std::move(c))); }
  /// Makes the call if `wanted` is true, otherwise skips its sequence number.
  void call_if(bool wanted, const subgroup& group, subcall c) {
    if (wanted)
      call_on(group, std::move(c));
    else
      skip();
  }
  request start(const subgroup& group, subcall c);
  /// Skips the sequence number of a call that other ranks make and that this rank's group omits, so
  /// that later numbers agree.
  void skip() noexcept { ++next_; }
  void wait(request t);
  /// Adds no step if the areas are equal or n is 0.
  void copy(area from, area to, std::size_t n);
  void copy(const copy_step& c);
  void combine(area left, area right, area to, std::size_t n);

  composite_plan finish();

 private:
  const call& call_;
  int rank_;
  const hierarchy& topology_;
  const algorithm_parameter_values& parameter_values_;
  composite_plan plan_;
  std::uint32_t next_ = 0;
};

}  // namespace tutti::detail

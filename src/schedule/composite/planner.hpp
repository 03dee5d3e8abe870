// SPDX-License-Identifier: Apache-2.0
//
// What a composition writes its program with. Every rank goes through the same calls, member of the group or
// not, so that they are numbered alike; the calls of groups that a rank is not in are left out of its
// program. Whatever decides which calls there are must be agreed: the call's count, root and operator, the
// layout, and the counts that every rank has (allgatherv, reduce_scatter), never those that only some have.
#pragma once

#include <utility>

#include "base/group/hierarchy.hpp"
#include "schedule/composite/composite_plan.hpp"
#include "schedule/shape.hpp"
#include "tutti/call.hpp"

namespace tutti {

/// A group that calls are made on; every rank knows its members.
class subgroup {
 public:
  int size() const noexcept { return size_; }
  bool member() const noexcept { return place_ >= 0; }
  int place() const noexcept { return place_; }  ///< of this rank; -1 where it is no member

 private:
  friend class planner;
  std::int32_t index_ = 0;
  int size_ = 1, place_ = 0;
};

class planner {
 public:
  using ticket = std::int32_t;  ///< of a call that was started; -1 where this rank takes no part

  /// `c` has displacements where it has counts. The three must stay.
  planner(const call& c, int rank, const hierarchy& layout,
          const algorithm_parameter_values& parameter_values);

  // --- the composed call ---------------------------------------------------------------------------------
  const call& requested() const noexcept { return call_; }
  collective what() const noexcept { return call_.what; }
  int size() const noexcept { return layout_.ranks(); }
  int rank() const noexcept { return rank_; }
  int root() const noexcept { return call_.root; }
  std::size_t count() const noexcept { return call_.count; }
  const hierarchy& layout() const noexcept { return layout_; }
  std::size_t of(algorithm_parameter k) const noexcept {
    return parameter_values_[static_cast<std::size_t>(k)];
  }
  /// Elements of at most `bytes` bytes, one at least.
  std::size_t elements_of(std::size_t bytes) const noexcept;

  area input() const noexcept { return {buffer::input, 0}; }
  area output() const noexcept { return {buffer::output, 0}; }
  /// Where the own operand or block stands: the input, or in place the part of the output that `call` names.
  /// With counts, displacements are not in it.
  area operand() const noexcept;
  /// New scratch of this many elements.
  area scratch(std::size_t elements);

  // --- groups --------------------------------------------------------------------------------------------
  subgroup all() noexcept;
  /// The ranks on this rank's node. At level l > 0: the leaders of its nodes of level l - 1.
  subgroup node(int level = 0);
  /// The leaders of the coarsest nodes.
  subgroup leaders();
  /// The i-th ranks of all nodes (level 0), for the i of this rank; of nodes that have so many.
  subgroup lane();
  /// Ranks in this order; all of them in their own order are `all`.
  subgroup list(std::vector<int> ranks);

  // --- steps ---------------------------------------------------------------------------------------------
  /// Starts a call and waits for it.
  void call_on(const subgroup& group, subcall c) { wait(start(group, std::move(c))); }
  /// Where `wanted` is false the call is skipped.
  void call_if(bool wanted, const subgroup& group, subcall c) {
    if (wanted)
      call_on(group, std::move(c));
    else
      skip();
  }
  ticket start(const subgroup& group, subcall c);
  /// In place of a call that others make and this rank's group does without: the numbers go on alike.
  void skip() noexcept { ++next_; }
  void wait(ticket t);
  /// Areas that are the same are left alone.
  void copy(area from, area to, std::size_t n);
  void copy(const copying& c);
  void combine(area left, area right, area to, std::size_t n);

  composite_plan finish();

 private:
  const call& call_;
  int rank_;
  const hierarchy& layout_;
  const algorithm_parameter_values& parameter_values_;
  composite_plan made_;
  std::uint32_t next_ = 0;
};

}  // namespace tutti

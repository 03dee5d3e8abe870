// SPDX-License-Identifier: Apache-2.0
//
// The collectives that combine elements. They work within one group and between two groups.
// communicator.hpp states what all collectives share, and collectives.hpp defines the notation of
// these comments. within_group.hpp has the scans, which work within one group only.
#pragma once

#include "tutti/detail/diagnostic.hpp"  // first: every error message contains its include path
#include "tutti/detail/export.hpp"
#include "tutti/detail/forms.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// A base of collectives. No other class derives from it.
template <class Self>
class reductions {
 public:
  /// Combines the elements of all ranks at the root.
  ///
  /// `reduce(send_buf(v), op(f), [root], [recv_buf], [send_recv_count(_out)])`, in place
  /// `send_recv_buf(v)`
  ///
  /// Each rank passes n elements: all of v, or the first send_recv_count (send_count means the same
  /// here). Element i of the result is element i of rank 0, op that of rank 1, ... op that of rank
  /// p - 1. The root receives n elements. The other ranks receive an empty container, and the call
  /// does not touch an lvalue recv_buf of theirs. reduce_single combines one element, and returns a
  /// std::optional<T>, which is empty except at the root.
  ///
  /// Exchange of counts: none.
  ///
  /// ```cpp
  /// std::vector<int> v = {world.rank(), 1};
  /// std::vector<int> sums = world.reduce(send_buf(v), op(std::plus<>{}), root(0));
  /// if (world.is_root()) assert(sums[1] == world.size());
  ///
  /// std::optional<int> most = world.reduce_single(send_buf(world.rank()), op(ops::max<>{}));
  /// assert(most.has_value() == world.is_root());
  /// ```
  TUTTI_COLLECTIVE(reduce, reduce)

  /// Combines the elements of all ranks on all ranks. It is reduce with the result on every rank.
  ///
  /// `allreduce(send_buf(v), op(f), [recv_buf], [send_recv_count(_out)])`, in place
  /// `send_recv_buf(v)`
  ///
  /// Each rank passes and receives n elements. allreduce_single combines one element per rank and
  /// returns one element.
  ///
  /// Exchange of counts: none.
  ///
  /// ```cpp
  /// std::vector<int> v = {world.rank(), 1};
  /// std::vector<int> sums = world.allreduce(send_buf(v), op(std::plus<>{}));
  /// assert(sums[1] == world.size());
  ///
  /// world.allreduce(send_recv_buf(v), op(std::plus<>{}));  // in place
  /// assert(v == sums);
  ///
  /// int last = world.allreduce_single(send_buf(world.rank()), op(ops::max<>{}));
  /// assert(last == world.size() - 1);
  /// ```
  TUTTI_COLLECTIVE(allreduce, allreduce)

  /// Combines the elements of all ranks, and scatters the result in blocks of given lengths, one
  /// for each rank.
  ///
  /// `reduce_scatter(send_buf(v), op(f), recv_counts(c), [recv_buf])`, in place `send_recv_buf(v)`
  ///
  /// c is the same on all ranks and has p entries. v holds at least sum(c) elements. Rank i
  /// receives block i, of c[i] elements. In place, the result is in the first c[i] elements of v.
  ///
  /// Exchange of counts: none.
  ///
  /// ```cpp
  /// std::vector<int> c(world.size(), 1), v(world.size() + 1, 1);
  /// c[0] = 2;
  /// auto part = world.reduce_scatter(send_buf(v), op(std::plus<>{}), recv_counts(c));
  /// assert(part.front() == world.size());
  /// ```
  TUTTI_COLLECTIVE(reduce_scatter, reduce_scatter)

  /// Combines the elements of all ranks, and scatters the result in blocks of one length.
  ///
  /// `reduce_scatter_block(send_buf(v), op(f), [recv_buf], [recv_count(_out)])`, in place
  /// `send_recv_buf(v)`
  ///
  /// v holds n * p elements, or more if recv_count gives n. Rank i receives block i of the
  /// combination, n elements. In place, the result is in the first n elements of v.
  ///
  /// Exchange of counts: none.
  ///
  /// Throws usage_error if recv_count is absent and p does not divide the number of elements.
  ///
  /// ```cpp
  /// std::vector<int> v(2 * world.size(), 1);
  /// auto part = world.reduce_scatter_block(send_buf(v), op(std::plus<>{}));
  /// assert(part.size() == 2 && part[0] == world.size());
  /// ```
  TUTTI_COLLECTIVE(reduce_scatter_block, reduce_scatter_block)

 protected:
  reductions() = default;

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace tutti
TUTTI_API_END

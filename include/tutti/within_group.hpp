// SPDX-License-Identifier: Apache-2.0
//
// The calls that work within one group only, as member functions of communicator with named
// parameters: scans, and calls of exactly one element. communicator.hpp states what all collectives
// share, and collectives.hpp defines the notation of these comments.
#pragma once

#include <source_location>

#include "tutti/detail/diagnostic.hpp"  // first: every error message contains its include path
#include "tutti/detail/export.hpp"
#include "tutti/detail/forms.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// A base of communicator. No other class derives from it.
///
/// ```cpp
/// int sum = world.allreduce_single(send_buf(1), op(std::plus<>{}));
/// assert(sum == world.size());
/// ```
template <class Self>
class within_group {
 public:
  /// bcast() of exactly one element: no exchange of counts, and a T in place of a container.
  TUTTI_COLLECTIVE_OF_TYPE(bcast_single, bcast, .single = true)

  /// reduce() of one element: returns a std::optional<T>, which is empty except at the root.
  TUTTI_COLLECTIVE(reduce_single, reduce, .single = true)

  /// allreduce() of one element into one.
  TUTTI_COLLECTIVE(allreduce_single, allreduce, .single = true)

  /// scatter() of one element to each rank: no exchange of counts, and a T in place of a container.
  TUTTI_COLLECTIVE_OF_TYPE(scatter_single, scatter, .single = true)

  /// Gives each rank the combination of ranks 0 .. rank.
  ///
  /// `scan(send_buf(v), op(f), [recv_buf], [send_recv_count(_out)])`, in place `send_recv_buf(v)`
  ///
  /// Each rank passes and receives n elements. scan_single combines one element into one.
  ///
  /// Exchange of counts: none.
  ///
  /// ```cpp
  /// std::vector<int> v = {1, 10};
  /// auto prefix = world.scan(send_buf(v), op(std::plus<>{}));
  /// assert(prefix[1] == 10 * (world.rank() + 1));
  /// ```
  TUTTI_COLLECTIVE(scan, scan)
  TUTTI_COLLECTIVE(scan_single, scan, .single = true)

  /// Gives each rank the combination of ranks 0 .. rank - 1.
  ///
  /// `exscan(send_buf(v), op(f), [values_on_rank_0], [recv_buf], [send_recv_count(_out)])`, in
  /// place `send_recv_buf(v)`
  ///
  /// Each rank passes and receives n elements. Rank 0 receives values_on_rank_0 (one for all
  /// elements, or one each), which does not enter the results of other ranks. Without it rank 0
  /// receives the neutral element of an operator known by name (ops.hpp), else the previous
  /// contents of a passed recv_buf or send_recv_buf. exscan_single combines one element into one.
  ///
  /// Exchange of counts: none.
  ///
  /// Throws usage_error on every rank that gives none of these three, and the errors of the class
  /// communicator.
  ///
  /// ```cpp
  /// int mine = world.rank() + 1;  // as many elements as this rank has
  /// int before = world.exscan_single(send_buf(mine), op(std::plus<>{}));
  /// assert(before == world.rank() * mine / 2);
  /// ```
  TUTTI_COLLECTIVE(exscan, exscan)
  TUTTI_COLLECTIVE(exscan_single, exscan, .single = true)

 protected:
  within_group() = default;

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace tutti
TUTTI_API_END

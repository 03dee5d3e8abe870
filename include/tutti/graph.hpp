// SPDX-License-Identifier: Apache-2.0
//
// Neighbor collectives: a communicator whose ranks know which ranks they receive from and send to,
// and the collectives along these edges.
#pragma once

#include <span>

#include "tutti/communicator.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// communicator::graph() makes it. All other collectives work as on any communicator of the same
/// ranks.
///
/// Blocks are in the order of the neighbor lists. Block i of the send buffer goes to
/// destinations[i], and block i of the receive buffer comes from sources[i]. If a pair of ranks has
/// several edges, the edges match in the order of the lists. If the named neighbor does not name
/// the rank in turn, a call blocks for ever, or until the engine detects the deadlock.
/// TUTTI_CHECK=1 finds this error in graph().
///
/// Costs: one message per edge, all of them concurrent; an exchange of counts costs the same again.
/// There are no in-place forms. Forms, parameters, results and errors are those of communicator.
///
/// ```cpp
/// int left = (world.rank() + world.size() - 1) % world.size();
/// int right = (world.rank() + 1) % world.size();
/// graph_communicator ring = world.graph({left}, {right});  // from left, to right
/// std::vector<int> from_left = ring.neighbor_allgather(send_buf(world.rank()));
/// assert(from_left[0] == left);
/// ```
class graph_communicator : public communicator {
 public:
  using communicator::communicator;

  /// The number of neighbors that this rank receives from, and sends to.
  int sources() const noexcept {
    return detail::recv_block_count(detail::impl_of(*this), collective::neighbor_alltoallv);
  }
  int destinations() const noexcept {
    return detail::send_block_count(detail::impl_of(*this), collective::neighbor_alltoallv);
  }

  /// Collective: the same ranks and neighbors, with separate traffic. Costs the same as
  /// communicator::duplicate().
  graph_communicator duplicate() const {
    graph_communicator other(detail::duplicate(detail::impl_of(*this)));
    other.take_defaults(*this);
    return other;
  }

  /// Sends each rank's elements to all of its destinations; all blocks have one length.
  ///
  /// `neighbor_allgather(send_buf(v), [recv_buf], [send_count(_out)], [recv_count(_out)])`
  ///
  /// Each rank sends n elements, all of v or the first send_count, and receives n from each source.
  /// n is the same on all ranks.
  ///
  /// Exchange of counts: none.
  TUTTI_COLLECTIVE(neighbor_allgather, neighbor_allgatherv, .equal_blocks = true)

  /// The same, with blocks of different lengths.
  ///
  /// `neighbor_allgatherv(send_buf(v), [recv_buf], [send_count(_out)], [recv_counts(_out)],
  /// [recv_displs(_out)])`
  ///
  /// recv_counts has an entry for each source. Either all ranks give it or none does.
  ///
  /// Exchange of counts: one along the edges, unless recv_counts is given.
  TUTTI_COLLECTIVE(neighbor_allgatherv, neighbor_allgatherv)

  /// Sends block i of each rank to destinations[i]; all blocks have one length.
  ///
  /// `neighbor_alltoall(send_buf(v), [recv_buf], [send_count(_out)], [recv_count(_out)])`
  ///
  /// All blocks on all ranks have n elements: v cut evenly, or send_count. A rank with sources but
  /// without destinations gives recv_count.
  ///
  /// Exchange of counts: none.
  ///
  /// Throws usage_error if the number of destinations does not divide the number of elements, or if
  /// recv_count is missing.
  ///
  /// ```cpp
  /// std::vector<int> others;
  /// for (int r = 0; r < world.size(); ++r)
  ///   if (r != world.rank()) others.push_back(r);
  /// auto all_pairs = world.graph(others, others);
  /// std::vector<int> v(2 * others.size(), world.rank());  // two elements to each
  /// assert(all_pairs.neighbor_alltoall(send_buf(v)).size() == v.size());
  /// ```
  TUTTI_COLLECTIVE(neighbor_alltoall, neighbor_alltoallv, .equal_blocks = true)

  /// The same, with blocks of different lengths.
  ///
  /// `neighbor_alltoallv(send_buf(v), send_counts(c), [send_displs(_out)], [recv_buf],
  /// [recv_counts(_out)], [recv_displs(_out)])`
  ///
  /// send_counts has an entry for each destination, and recv_counts one for each source. Either all
  /// ranks give recv_counts or none does.
  ///
  /// Exchange of counts: one along the edges, unless recv_counts is given.
  TUTTI_COLLECTIVE(neighbor_alltoallv, neighbor_alltoallv)

 private:
  friend struct detail::access;
  detail::collective_caller site(detail::collective_form f) const noexcept {
    return {
        {detail::impl_of(*this), f}, f.what, rank(), size(), destinations(), sources(), 0, default_root()};
  }

 private:
  const graph_communicator& self() const noexcept { return *this; }
};

template <class Sources, class Destinations>
graph_communicator communicator::graph(const Sources& sources, const Destinations& destinations,
                                       std::source_location at) const {
  return graph_communicator(
      detail::with_graph(noted(at), std::span<const int>(sources), std::span<const int>(destinations)));
}
inline graph_communicator communicator::graph(std::initializer_list<int> sources,
                                              std::initializer_list<int> destinations,
                                              std::source_location at) const {
  return graph_communicator(detail::with_graph(noted(at), {sources.begin(), sources.size()},
                                               {destinations.begin(), destinations.size()}));
}

}  // namespace tutti
TUTTI_API_END

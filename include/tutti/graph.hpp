// SPDX-License-Identifier: Apache-2.0
//
// Neighbours: a communicator whose ranks each know whom they receive from and whom they send to, and the
// collectives that go along these edges.
#pragma once

#include <span>

#include "tutti/communicator.hpp"

namespace tutti {

/// Made by communicator::graph(). All other collectives work as on any communicator of the same ranks.
///
/// Blocks are in the order of the lists of neighbours: block i of what is sent goes to destinations[i], block
/// i of what is received comes from sources[i]. A pair of ranks with several edges matches them in the order
/// of their lists. Where one rank names a neighbour that does not name it, a call waits for ever, or until
/// the engine sees the deadlock; TUTTI_CHECK=1 finds it in graph().
///
/// Costs: one message an edge, all under way together; an exchange of counts as much again. Nothing is in
/// place. Forms, parameters, results and errors as in communicator.
///
/// ```cpp
/// int left = (world.rank() + world.size() - 1) % world.size(), right = (world.rank() + 1) % world.size();
/// graph_communicator ring = world.graph({left}, {right});  // from left, to right
/// std::vector<int> from_left = ring.neighbor_allgather(send_buf(world.rank()));
/// assert(from_left[0] == left);
/// ```
class graph_communicator : public communicator {
 public:
  using communicator::communicator;

  /// How many neighbours this rank receives from, and sends to.
  int sources() const noexcept { return detail::blocks_taken(native(), collective::neighbor_alltoallv); }
  int destinations() const noexcept { return detail::blocks_given(native(), collective::neighbor_alltoallv); }

  /// Collective: the same ranks and neighbours, with traffic of its own. Costs as in communicator.
  graph_communicator duplicate() const {
    graph_communicator other(detail::duplicate(native()));
    other.take_defaults(*this);
    return other;
  }

  /// Each rank's elements to all of its destinations, blocks of one length.
  ///
  /// `neighbor_allgather(send_buf(v), [recv_buf], [send_count(_out)], [recv_count(_out)])`
  ///
  /// n elements on all ranks: all of v, or the first send_count; n for each source are received.
  ///
  /// Exchange of counts: none.
  template <class... Args>
  auto neighbor_allgather(Args&&... args) const {
    return detail::invoke<detail::form{collective::neighbor_allgatherv, detail::mode::blocking, false, true},
                          void>(*this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ineighbor_allgather(Args&&... args) const {
    return detail::invoke<
        detail::form{collective::neighbor_allgatherv, detail::mode::nonblocking, false, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto neighbor_allgather_init(Args&&... args) const {
    return detail::invoke<
        detail::form{collective::neighbor_allgatherv, detail::mode::persistent, false, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }

  /// The same with blocks of different lengths.
  ///
  /// `neighbor_allgatherv(send_buf(v), [recv_buf], [send_count(_out)], [recv_counts(_out)],
  /// [recv_displs(_out)])`
  ///
  /// recv_counts has an entry for each source, and is given on all ranks or on none.
  ///
  /// Exchange of counts: one along the edges, unless recv_counts is given.
  template <class... Args>
  auto neighbor_allgatherv(Args&&... args) const {
    return detail::invoke<detail::form{collective::neighbor_allgatherv}, void>(*this,
                                                                               static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ineighbor_allgatherv(Args&&... args) const {
    return detail::invoke<detail::form{collective::neighbor_allgatherv, detail::mode::nonblocking}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto neighbor_allgatherv_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::neighbor_allgatherv, detail::mode::persistent}, void>(
        *this, static_cast<Args&&>(args)...);
  }

  /// Block i of each rank goes to destinations[i], blocks of one length.
  ///
  /// `neighbor_alltoall(send_buf(v), [recv_buf], [send_count(_out)], [recv_count(_out)])`
  ///
  /// All blocks on all ranks have n elements: v cut evenly, or send_count. A rank with sources but without
  /// destinations says recv_count.
  ///
  /// Exchange of counts: none.
  ///
  /// Throws usage_error where the number of destinations does not divide the elements, and where recv_count
  /// is missing.
  ///
  /// ```cpp
  /// std::vector<int> others;
  /// for (int r = 0; r < world.size(); ++r)
  ///   if (r != world.rank()) others.push_back(r);
  /// auto all_pairs = world.graph(others, others);
  /// std::vector<int> v(2 * others.size(), world.rank());  // two elements to each
  /// assert(all_pairs.neighbor_alltoall(send_buf(v)).size() == v.size());
  /// ```
  template <class... Args>
  auto neighbor_alltoall(Args&&... args) const {
    return detail::invoke<detail::form{collective::neighbor_alltoallv, detail::mode::blocking, false, true},
                          void>(*this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ineighbor_alltoall(Args&&... args) const {
    return detail::invoke<
        detail::form{collective::neighbor_alltoallv, detail::mode::nonblocking, false, true}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto neighbor_alltoall_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::neighbor_alltoallv, detail::mode::persistent, false, true},
                          void>(*this, static_cast<Args&&>(args)...);
  }

  /// The same with blocks of different lengths.
  ///
  /// `neighbor_alltoallv(send_buf(v), send_counts(c), [send_displs(_out)], [recv_buf], [recv_counts(_out)],
  /// [recv_displs(_out)])`
  ///
  /// send_counts has an entry for each destination. recv_counts has one for each source, and is given on all
  /// ranks or on none.
  ///
  /// Exchange of counts: one along the edges, unless recv_counts is given.
  template <class... Args>
  auto neighbor_alltoallv(Args&&... args) const {
    return detail::invoke<detail::form{collective::neighbor_alltoallv}, void>(*this,
                                                                              static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ineighbor_alltoallv(Args&&... args) const {
    return detail::invoke<detail::form{collective::neighbor_alltoallv, detail::mode::nonblocking}, void>(
        *this, static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto neighbor_alltoallv_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::neighbor_alltoallv, detail::mode::persistent}, void>(
        *this, static_cast<Args&&>(args)...);
  }

  // For front ends: what a call of form f says of itself.
  detail::call_site site(detail::form f) const noexcept {
    return {{native(), f}, f.what, rank(), size(), destinations(), sources(), 0, default_root()};
  }
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

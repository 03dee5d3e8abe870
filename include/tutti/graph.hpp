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
/// of their lists. Where one rank names a neighbour that does not name it, the call waits for ever;
/// TUTTI_CHECK=1 finds it in graph(). Costs: one message an edge, all under way together.
class graph_communicator : public communicator {
 public:
  using communicator::communicator;

  int sources() const noexcept { return detail::blocks_taken(native(), collective::neighbor_alltoallv); }
  int destinations() const noexcept { return detail::blocks_given(native(), collective::neighbor_alltoallv); }

  /// Collective: the same ranks and neighbours, with traffic of its own.
  graph_communicator duplicate() const { return graph_communicator(detail::duplicate(native())); }

  /// Each rank's elements to all of its destinations: neighbor_allgather(send_buf(v), [recv_buf],
  /// [send_count(_out)], [recv_count(_out)]). All ranks send n elements, n for each source are received.
  ///
  ///     auto ring = comm.graph({left}, {right});
  ///     int from_left = ring.neighbor_allgather(send_buf(x)).front();
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

  /// The same with blocks of different lengths: neighbor_allgatherv(send_buf(v), [recv_buf],
  /// [send_count(_out)], [recv_counts(_out)], [recv_displs(_out)]). recv_counts, one for each source, is
  /// given on all ranks or on none; without it one more exchange along the edges finds it.
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

  /// Block i to destinations[i]: neighbor_alltoall(send_buf(v), [recv_buf], [send_count(_out)],
  /// [recv_count(_out)]). All blocks on all ranks have n elements: v cut evenly, or send_count. A rank with
  /// sources but without destinations says recv_count.
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

  /// The same with blocks of different lengths: neighbor_alltoallv(send_buf(v), send_counts(c),
  /// [send_displs(_out)], [recv_buf], [recv_counts(_out)], [recv_displs(_out)]). recv_counts, one for each
  /// source, is given on all ranks or on none; without it one more exchange along the edges finds it.
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

  /// For front ends: what a call of form f says of itself.
  detail::call_site site(detail::form f) const noexcept {
    return {{native(), f}, rank(), size(), destinations(), sources(), 0};
  }
};

template <class Sources, class Destinations>
graph_communicator communicator::graph(const Sources& sources, const Destinations& destinations) const {
  return graph_communicator(
      detail::with_graph(*core_, std::span<const int>(sources), std::span<const int>(destinations)));
}
inline graph_communicator communicator::graph(std::initializer_list<int> sources,
                                              std::initializer_list<int> destinations) const {
  return graph_communicator(detail::with_graph(*core_, {sources.begin(), sources.size()},
                                               {destinations.begin(), destinations.size()}));
}

}  // namespace tutti

// SPDX-License-Identifier: Apache-2.0
//
// alltoallv in two hops over a grid of ranks, for many ranks that exchange little. tutti.hpp does
// not include this header.
//
// The ranks form a grid of c = ceil(sqrt(p)) columns, row by row; the last row may be short. Data
// from rank s for rank d goes first along the row of s to the column of d, then along that column
// to d. If the last row contains s and lacks the column, ranks of the other rows replace the
// missing rank, in turn.
//
// Source: Sanders, Schimek 2023, and KaMPIng's grid plugin, from which the short row comes.
#pragma once

#include <source_location>

#include "tutti/detail/call_site.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/find_call_site.hpp"
#include "tutti/graph.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// All ranks of a communicator, in a grid. Only the blocking form of alltoallv goes over the grid.
/// All other collectives work as on any communicator of the same ranks.
///
/// ```cpp
/// #include <tutti/grid.hpp>
/// grid_communicator grid(world);  // made once
/// std::vector<int> v(world.size(), world.rank()), counts(world.size(), 1);
/// std::vector<int> received = grid.alltoallv(send_buf(v), send_counts(counts));
/// assert(received == world.alltoallv(send_buf(v), send_counts(counts)));
/// assert(grid.columns() * grid.columns() >= world.size());
/// ```
class grid_communicator : public communicator {
 public:
  /// Collective. Costs the same as two calls of communicator::graph().
  explicit grid_communicator(const communicator& ranks,
                             std::source_location at = std::source_location::current());

  int columns() const noexcept { return columns_; }                  ///< least c with c * c >= p
  int rows() const noexcept { return (size() - 1) / columns_ + 1; }  ///< the last one may be short
  int row() const noexcept { return rank() / columns_; }             ///< of this rank
  int column() const noexcept { return rank() % columns_; }          ///< of this rank

  /// Does the same as communicator::alltoallv, with the same parameters, in place too, and the same
  /// result in the order of sources. It ignores algorithm() and composition().
  ///
  /// Costs: each element travels twice, with 16 bytes for each block that is not empty, and is
  /// copied three more times. A rank sends three times ceil(sqrt(p)) messages. Each rank of its row
  /// gets a length and the data, and each rank of its column gets the forwarded data. It receives
  /// at most four more. Plain alltoallv sends up to p messages. This rank allocates the forwarded
  /// data twice.
  ///
  /// Exchange of counts: one alltoall of the communicator, with the algorithm that is selected for
  /// 8 bytes, unless recv_counts is given.
  ///
  /// Throws the errors of communicator::alltoallv. Throws mismatch_error if recv_counts differs
  /// from what is sent.
  template <class... Args>
  auto alltoallv(Args&&... args) const {
    const detail::enclosing_call scope(detail::impl_of(*this), "grid_communicator::alltoallv",
                                       detail::first_location(args...));
    return detail::invoke<detail::collective_form{collective::alltoallv}, void>(*this,
                                                                                static_cast<Args&&>(args)...);
  }

  /// For the frame of the call: runs it over the grid.
  void execute(const call& c) const;

 private:
  int columns_;
  graph_communicator along_row_, along_column_;
};

}  // namespace tutti
TUTTI_API_END

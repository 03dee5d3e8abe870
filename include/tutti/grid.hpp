// SPDX-License-Identifier: Apache-2.0
//
// alltoallv in two hops over a grid of ranks, for many ranks that exchange little. Not included by tutti.hpp.
//
// The ranks stand in a grid of c = ceil(sqrt(p)) columns, row by row; the last row may be short. What rank s
// has for rank d goes first along the row of s to d's column, then along that column to d. Where the row of s
// is the last one and has no such column, ranks of the other rows stand in, in turn.
//
// Source: Sanders, Schimek 2023, and KaMPIng's grid plugin (the short row is theirs).
#pragma once

#include "tutti/graph.hpp"

namespace tutti {

/// All ranks of a communicator, in a grid. All other collectives work as on any communicator of the same
/// ranks; only alltoallv in its blocking form goes over the grid.
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
  /// Collective. Costs what two communicator::graph() do.
  explicit grid_communicator(const communicator& ranks);

  int columns() const noexcept { return columns_; }                  ///< the least c with c * c >= p
  int rows() const noexcept { return (size() - 1) / columns_ + 1; }  ///< the last one may be short
  int row() const noexcept { return rank() / columns_; }             ///< of this rank
  int column() const noexcept { return rank() % columns_; }          ///< of this rank

  /// What communicator::alltoallv does, with the same parameters and the same result in the order of
  /// sources, in place too, but for algorithm() and composition(), which the two hops do not heed.
  ///
  /// Costs: each element travels twice, with 16 bytes for each block that is not empty, and is copied three
  /// times besides. A rank sends three times ceil(sqrt(p)) messages, to each rank of its row a length and
  /// what it has, to each of its column what passes; it receives at most four more. Plain alltoallv sends up
  /// to p. It allocates what passes through this rank, twice.
  ///
  /// Exchange of counts: one alltoall of the communicator, by whichever algorithm is selected for 8 bytes,
  /// unless recv_counts is given.
  ///
  /// Throws what communicator::alltoallv throws; mismatch_error where recv_counts is not what is sent.
  template <class... Args>
  auto alltoallv(Args&&... args) const {
    return detail::invoke<detail::form{collective::alltoallv}, void>(*this, static_cast<Args&&>(args)...);
  }

  /// For the frame of the call: carries it out over the grid.
  void carry_out(const call& c) const;

 private:
  int columns_;
  graph_communicator along_row_, along_column_;
};

}  // namespace tutti

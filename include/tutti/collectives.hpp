// SPDX-License-Identifier: Apache-2.0
//
// The collectives that move elements, as member functions with named parameters. They work within
// one group and between two groups. reductions.hpp has the collectives that combine elements.
//
// communicator.hpp states what all collectives share: forms, results, errors. This header states
// what each collective takes and returns. p is the number of ranks, n the number of elements of one
// block. TUTTI_COLLECTIVE(gather, ...) declares gather(), igather() and gather_init() as members
// (detail/forms.hpp); the comment before it is their contract. [Brackets] mark optional parameters,
// and `(_out)` marks those that a call can also return. An exchange of counts is one more
// collective of one std::size_t per rank.
#pragma once

#include <source_location>

#include "tutti/detail/diagnostic.hpp"  // first: every error message contains its include path
#include "tutti/detail/export.hpp"
#include "tutti/detail/forms.hpp"
#include "tutti/reductions.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// The base of communicator and intercommunicator. The comments describe calls within one group;
/// intercommunicator.hpp states what changes between two. No other class derives from it.
template <class Self>
class collectives : public reductions<Self> {
 public:
  /// Blocks until all ranks have called it. Takes algorithm() and composition() only.
  ///
  /// ```cpp
  /// world.barrier();
  /// ```
  TUTTI_COLLECTIVE_ALSO_ALONE(barrier, barrier)

  /// Copies the root's elements to all ranks.
  ///
  /// `bcast(send_recv_buf(x), [root], [send_recv_count(_out)])`
  ///
  /// The root passes n elements. The other ranks pass a container for n elements, or only the type:
  /// `bcast<T>(root(q))`. bcast_single moves exactly one element, and returns a T unless x is an
  /// lvalue.
  ///
  /// Exchange of counts: one bcast, from which the other ranks learn n. There is none in
  /// bcast_single, where x is a single value on all ranks, nor if all ranks give send_recv_count.
  ///
  /// ```cpp
  /// int steps = world.is_root() ? 100 : 0;
  /// world.bcast(send_recv_buf(steps));
  /// assert(steps == 100);
  ///
  /// std::vector<double> mine = {0.5, 1.5};
  /// auto all = world.is_root() ? world.bcast(send_recv_buf(std::move(mine)))
  ///                            : world.bcast<double>();
  /// assert(all.size() == 2);
  /// ```
  TUTTI_COLLECTIVE_OF_TYPE(bcast, bcast)

  /// Gathers the blocks of all ranks at the root, in the order of ranks.
  ///
  /// `gather(send_buf(v), [root], [recv_buf], [send_count(_out)], [recv_count(_out)])`, in place
  /// `send_recv_buf(v)`
  ///
  /// Each rank sends n elements: all of v, or the first send_count. n is the same on all ranks. The
  /// root receives n * p elements. The other ranks receive an empty container, and the call does
  /// not touch an lvalue recv_buf of theirs. In place, the root's v holds n * p elements with its
  /// own block in position, and v of the others holds their n.
  ///
  /// Exchange of counts: none. gatherv takes blocks of different lengths.
  ///
  /// ```cpp
  /// std::vector<int> ranks = world.gather(send_buf(world.rank()), root(0));
  /// if (world.is_root()) assert(ranks.back() == world.size() - 1);
  /// ```
  TUTTI_COLLECTIVE(gather, gather)

  /// Gathers blocks of different lengths at the root, in the order of ranks.
  ///
  /// `gatherv(send_buf(v), [root], [recv_buf], [send_count(_out)], [recv_counts(_out)],
  /// [recv_displs(_out)])`, in place `gatherv(send_recv_buf(v), recv_counts(c), ...)`
  ///
  /// Each rank sends all of v, or the first send_count elements. recv_counts has p entries at the
  /// root and is not read elsewhere. Either all ranks give it or none does. recv_displs states
  /// where in recv_buf each block begins; the call does not touch the gaps. Except at the root all
  /// out parameters stay empty.
  ///
  /// Exchange of counts: one gather, unless recv_counts is given. If one rank rejects its arguments
  /// in this exchange, only the root learns of it. The other ranks may block until that rank exits.
  ///
  /// ```cpp
  /// std::vector<int> v(world.rank() + 1, world.rank());  // 0, 1 1, 2 2 2 ...
  /// auto [all, counts] = world.gatherv(send_buf(v), recv_counts_out());
  /// if (world.is_root()) assert(counts.back() == world.size());
  /// ```
  TUTTI_COLLECTIVE(gatherv, gatherv)

  /// Scatters the root's blocks, one to each rank.
  ///
  /// `scatter(send_buf(v), [root], [recv_buf], [send_count(_out)], [recv_count(_out)])`, in place
  /// `send_recv_buf(v)`
  ///
  /// The root's v holds n * p elements, cut evenly, or send_count in each block. The other ranks
  /// omit it and name the type: `scatter<T>(root(q))`. Each rank receives n elements. In place, the
  /// root's own block does not move. scatter_single sends one element to each rank, and returns a
  /// T.
  ///
  /// Exchange of counts: one bcast, from which the other ranks learn n, unless all ranks give
  /// recv_count. There is none in scatter_single.
  ///
  /// Throws usage_error at the root if p does not divide the number of elements. The other ranks
  /// learn of it in the exchange.
  ///
  /// ```cpp
  /// std::vector<int> all(2 * world.size(), 7);
  /// auto mine = world.is_root() ? world.scatter(send_buf(all)) : world.scatter<int>();
  /// assert(mine.size() == 2);
  /// ```
  TUTTI_COLLECTIVE_OF_TYPE(scatter, scatter)

  /// Scatters the root's blocks of different lengths, one to each rank.
  ///
  /// `scatterv(send_buf(v), send_counts(c), [send_displs(_out)], [root], [recv_buf],
  /// [recv_count(_out)])`, in place `scatterv(send_recv_buf(v), send_counts(c), ...)`; with
  /// recv_count also `send_counts_out()`
  ///
  /// send_counts has p entries; send_displs states where in v each block begins. Only the root's
  /// three arguments are read, and other ranks may omit them: `scatterv<T>(root(q))`.
  ///
  /// Exchange of counts: one scatter, unless all ranks give recv_count. send_counts_out() costs one
  /// gather; either all ranks ask for it or none does.
  ///
  /// ```cpp
  /// std::vector<int> all(world.size() + 3), counts(world.size(), 1);
  /// counts[0] = 4;
  /// auto mine = world.is_root() ? world.scatterv(send_buf(all), send_counts(counts)) :
  /// world.scatterv<int>(); assert(mine.size() == (world.is_root() ? 4 : 1));
  /// ```
  TUTTI_COLLECTIVE_OF_TYPE(scatterv, scatterv)

  /// Gathers the blocks of all ranks on all ranks, in the order of ranks.
  ///
  /// `allgather(send_buf(v), [recv_buf], [send_count(_out)], [recv_count(_out)])`, in place
  /// `send_recv_buf(v)`
  ///
  /// Each rank sends n elements, all of v or the first send_count, and receives n * p. n is the
  /// same on all ranks. In place, v holds n * p elements with this rank's block in position.
  ///
  /// Exchange of counts: none. allgatherv takes blocks of different lengths.
  ///
  /// ```cpp
  /// std::vector<int> ranks = world.allgather(send_buf(world.rank()));
  /// assert(ranks[1 % world.size()] == 1 % world.size());
  /// ```
  TUTTI_COLLECTIVE(allgather, allgather)

  /// Gathers blocks of different lengths on all ranks, in the order of ranks.
  ///
  /// `allgatherv(send_buf(v), [recv_buf], [send_count(_out)], [recv_counts(_out)],
  /// [recv_displs(_out)])`, in place `allgatherv(send_recv_buf(v), recv_counts(c), ...)`
  ///
  /// Each rank sends all of v, or the first send_count elements. recv_counts has p entries. Either
  /// all ranks give it or none does. recv_displs states where in recv_buf each block begins; the
  /// call does not touch the gaps.
  ///
  /// Exchange of counts: one allgather, unless recv_counts is given.
  ///
  /// ```cpp
  /// std::vector<int> v(world.rank() + 1, world.rank());  // 0, 1 1, 2 2 2 ...
  /// auto all = world.allgatherv(send_buf(v));
  /// auto [same, counts] = world.allgatherv(send_buf(v), recv_counts_out());
  /// assert(same == all && counts[0] == 1);
  /// ```
  TUTTI_COLLECTIVE(allgatherv, allgatherv)

  /// Sends block i of each rank to rank i.
  ///
  /// `alltoall(send_buf(v), [recv_buf], [send_count(_out)], [recv_count(_out)])`, in place
  /// `send_recv_buf(v)`
  ///
  /// v holds n * p elements, cut evenly, or send_count in each block. n is the same on all ranks.
  /// Each rank receives n * p elements; block i comes from rank i.
  ///
  /// Exchange of counts: none.
  ///
  /// Throws usage_error if p does not divide the number of elements.
  ///
  /// ```cpp
  /// std::vector<int> row(world.size(), world.rank());
  /// std::vector<int> column = world.alltoall(send_buf(row));
  /// assert(column[0] == 0 && column.back() == world.size() - 1);
  /// ```
  TUTTI_COLLECTIVE(alltoall, alltoall)

  /// Sends block i of each rank to rank i; blocks may differ in length.
  ///
  /// `alltoallv(send_buf(v), send_counts(c), [send_displs(_out)], [recv_buf], [recv_counts(_out)],
  /// [recv_displs(_out)])`, in place `alltoallv(send_recv_buf(v), recv_counts(c),
  /// [recv_displs(_out)])`
  ///
  /// Counts and displacements have p entries. Either all ranks give recv_counts or none does. With
  /// `send_counts_out(), recv_counts(c)` the receivers determine the lengths, and the call reports
  /// them to the senders. The call neither reads nor writes the gaps between blocks. In place, both
  /// directions of a pair of ranks have the same length.
  ///
  /// Exchange of counts: one alltoall, unless both counts are given.
  ///
  /// ```cpp
  /// std::vector<int> v(2 * world.size() - 1, world.rank());  // 1 to rank 0, 2 to every other
  /// std::vector<int> c(world.size(), 2);
  /// c[0] = 1;
  /// auto [received, counts] = world.alltoallv(send_buf(v), send_counts(c), recv_counts_out());
  /// assert(counts.back() == (world.is_root() ? 1 : 2));
  /// ```
  TUTTI_COLLECTIVE(alltoallv, alltoallv)

  /// Sends block i of each rank to rank i; each block has its own layout.
  ///
  /// `alltoallw(send_buf(v), send_counts(c), send_types(t), recv_counts(c), recv_types(t),
  /// [send_displs], [recv_displs], [recv_buf])`, in place `alltoallw(send_recv_buf(v),
  /// recv_counts(c), recv_types(t), [recv_displs])`
  ///
  /// Block i is c[i] items of layout t[i] (layout.hpp), and begins at byte send_displs[i] of
  /// v. Without displacements, a block begins where the extent of the previous one ends.
  /// Displacements are in bytes, and all lists have p entries. The call neither reads nor writes
  /// the gaps of a layout. Both ranks of a pair must give the same number of bytes.
  ///
  /// Exchange of counts: none. Blocks with gaps are packed and unpacked, which costs one copy on
  /// each side.
  ///
  /// ```cpp
  /// int p = world.size();
  /// std::vector<int> row(p, world.rank()), ones(p, 1);
  /// std::vector<layout> types(p, layout::contiguous(sizeof(int)));
  /// auto column = world.alltoallw(send_buf(row), send_counts(ones), send_types(types),
  ///                               recv_counts(ones), recv_types(types));
  /// assert(column.back() == p - 1);
  /// ```
  TUTTI_COLLECTIVE(alltoallw, alltoallw)

 protected:
  collectives() = default;

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace tutti
TUTTI_API_END

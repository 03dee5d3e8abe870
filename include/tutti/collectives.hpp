// SPDX-License-Identifier: Apache-2.0
//
// The collectives that go within one group and between two alike, as member functions with named parameters.
#pragma once

#include "tutti/face/complaint.hpp"  // first: the way to it is part of every message
#include "tutti/face/invoke.hpp"

namespace tutti {

/// The base of communicator and intercommunicator. What is said here is what they do within one group;
/// intercommunicator.hpp says what changes between two. Self has site(form) and shared().
template <class Self>
class collectives {
 public:
  /// Returns when all ranks have called it. Takes algorithm() only.
  template <class... Args>
  auto barrier(Args&&... args) const {
    return detail::invoke<detail::form{collective::barrier}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ibarrier(Args&&... args) const {
    return detail::invoke<detail::form{collective::barrier, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto barrier_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::barrier, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// The root's elements, on all ranks: bcast(send_recv_buf(x), [root], [send_recv_count(_out)]).
  ///
  /// The root passes its elements. The others pass a container for them, or name the type:
  /// `bcast<T>(root(q))`. Unless send_recv_count is given (on all ranks), or the buffer is a single value (on
  /// all ranks), one more bcast of a single integer tells the others how many elements come. A container of
  /// theirs that is too small and may not be resized is refused. bcast_single sends exactly one element,
  /// without that exchange, and returns a T where no lvalue is given.
  ///
  ///     comm.bcast(send_recv_buf(x));  // x an int: changed on all ranks but the root
  ///     auto v = comm.is_root() ? comm.bcast(send_recv_buf(std::move(mine))) : comm.bcast<double>();
  template <class T = void, class... Args>
  auto bcast(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast}, T>(self(), static_cast<Args&&>(args)...);
  }
  template <class T = void, class... Args>
  auto ibcast(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast, detail::mode::nonblocking}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void, class... Args>
  auto bcast_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast, detail::mode::persistent}, T>(
        self(), static_cast<Args&&>(args)...);
  }

  /// All ranks' elements combined, at the root: reduce(send_buf(v), op(f), [root], [recv_buf],
  /// [send_recv_count(_out)]).
  ///
  /// Element i of the result is element i of rank 0 op that of rank 1 op ... op that of rank p-1. All ranks
  /// pass n elements; the root receives n, the others an empty container, and an lvalue recv_buf of theirs is
  /// not touched. send_recv_count (or send_count) reduces a prefix. In place: send_recv_buf(v). reduce_single
  /// combines one value, and returns std::optional<T>, empty off the root.
  ///
  ///     auto total = comm.reduce(send_buf(v), op(std::plus<>{}), root(2));
  template <class... Args>
  auto reduce(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ireduce(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto reduce_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// The same on all ranks: allreduce(send_buf(v), op(f), [recv_buf], [send_recv_count(_out)]).
  ///
  /// n elements in, n out, on each rank. In place: send_recv_buf(v). allreduce_single combines one value into
  /// one value.
  ///
  ///     std::vector<int> sums = comm.allreduce(send_buf(v), op(std::plus<>{}));
  ///     int most = comm.allreduce_single(send_buf(x), op(ops::max<>{}));
  template <class... Args>
  auto allreduce(Args&&... args) const {
    return detail::invoke<detail::form{collective::allreduce}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iallreduce(Args&&... args) const {
    return detail::invoke<detail::form{collective::allreduce, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto allreduce_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::allreduce, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// All ranks' blocks in the order of ranks, at the root: gather(send_buf(v), [root], [recv_buf],
  /// [send_count(_out)], [recv_count(_out)]).
  ///
  /// n elements from each rank, the same n everywhere: the whole buffer, or send_count. The root receives n *
  /// p, the others an empty container. In place: send_recv_buf(v), where the root's v holds n * p elements
  /// with its own block in its place, the others' n.
  ///
  ///     auto all = comm.gather(send_buf(v), root(2));
  template <class... Args>
  auto gather(Args&&... args) const {
    return detail::invoke<detail::form{collective::gather}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto igather(Args&&... args) const {
    return detail::invoke<detail::form{collective::gather, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto gather_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::gather, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// The same with blocks of different lengths: gatherv(send_buf(v), [root], [recv_buf], [send_count(_out)],
  /// [recv_counts(_out)], [recv_displs(_out)]).
  ///
  /// recv_counts, of length p at the root (elsewhere it may be empty), is given on all ranks or on none;
  /// without it one gather of a single integer finds it. recv_displs says where each block goes; what lies
  /// between is not touched. Off the root all out parameters stay empty. In place it needs recv_counts.
  /// Where one rank refuses its arguments, the root alone is told; the others may wait until that rank ends.
  ///
  ///     auto [all, counts] = comm.gatherv(send_buf(v), recv_counts_out());
  template <class... Args>
  auto gatherv(Args&&... args) const {
    return detail::invoke<detail::form{collective::gatherv}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto igatherv(Args&&... args) const {
    return detail::invoke<detail::form{collective::gatherv, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto gatherv_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::gatherv, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// The root's blocks, one to each rank: scatter(send_buf(v), [root], [recv_buf], [send_count(_out)],
  /// [recv_count(_out)]).
  ///
  /// The root's buffer holds n * p elements, cut evenly, or send_count in each block; the others may leave it
  /// out: `scatter<T>(root(q))`. Each rank receives n. recv_count is given on all ranks or on none; without
  /// it one bcast of a single integer finds n. In place: send_recv_buf(v); the root's own block stays where
  /// it is. scatter_single sends one element to each rank, without that exchange, and returns a T.
  ///
  ///     auto mine = comm.is_root() ? comm.scatter(send_buf(all)) : comm.scatter<int>();
  template <class T = void, class... Args>
  auto scatter(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter}, T>(self(), static_cast<Args&&>(args)...);
  }
  template <class T = void, class... Args>
  auto iscatter(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter, detail::mode::nonblocking}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void, class... Args>
  auto scatter_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter, detail::mode::persistent}, T>(
        self(), static_cast<Args&&>(args)...);
  }

  /// The same with blocks of different lengths: scatterv(send_buf(v), send_counts(c), [send_displs(_out)],
  /// [root], [recv_buf], [recv_count(_out)]).
  ///
  /// send_buf, send_counts and send_displs are read at the root and may be left out elsewhere:
  /// `scatterv<T>(root(q))`. recv_count is given on all ranks or on none; without it one scatter of a single
  /// integer finds it.
  ///
  ///     auto mine = comm.scatterv(send_buf(all), send_counts(counts), root(1));
  template <class T = void, class... Args>
  auto scatterv(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatterv}, T>(self(), static_cast<Args&&>(args)...);
  }
  template <class T = void, class... Args>
  auto iscatterv(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatterv, detail::mode::nonblocking}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void, class... Args>
  auto scatterv_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatterv, detail::mode::persistent}, T>(
        self(), static_cast<Args&&>(args)...);
  }

  /// All ranks' blocks in the order of ranks, on all ranks: allgather(send_buf(v), [recv_buf],
  /// [send_count(_out)], [recv_count(_out)]).
  ///
  /// n elements from each rank, the same n everywhere; n * p are received. In place: send_recv_buf(v) of n *
  /// p elements with this rank's block in its place.
  ///
  ///     std::vector<int> ranks = comm.allgather(send_buf(comm.rank()));
  template <class... Args>
  auto allgather(Args&&... args) const {
    return detail::invoke<detail::form{collective::allgather}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iallgather(Args&&... args) const {
    return detail::invoke<detail::form{collective::allgather, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto allgather_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::allgather, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// The same with blocks of different lengths: allgatherv(send_buf(v), [recv_buf], [send_count(_out)],
  /// [recv_counts(_out)], [recv_displs(_out)]).
  ///
  /// recv_counts is given on all ranks or on none; without it one allgather of a single integer finds it. In
  /// place it needs recv_counts.
  ///
  ///     auto all = comm.allgatherv(send_buf(v));
  ///     auto [elements, counts] = comm.allgatherv(send_buf(v), recv_counts_out());
  template <class... Args>
  auto allgatherv(Args&&... args) const {
    return detail::invoke<detail::form{collective::allgatherv}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto iallgatherv(Args&&... args) const {
    return detail::invoke<detail::form{collective::allgatherv, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto allgatherv_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::allgatherv, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// Block i of each rank goes to rank i: alltoall(send_buf(v), [recv_buf], [send_count(_out)],
  /// [recv_count(_out)]).
  ///
  /// v holds n * p elements, cut evenly (usage_error where p does not divide them), or send_count in each
  /// block; n * p are received. In place: send_recv_buf(v).
  ///
  ///     auto transposed = comm.alltoall(send_buf(row));
  template <class... Args>
  auto alltoall(Args&&... args) const {
    return detail::invoke<detail::form{collective::alltoall}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ialltoall(Args&&... args) const {
    return detail::invoke<detail::form{collective::alltoall, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto alltoall_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::alltoall, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// The same with blocks of different lengths: alltoallv(send_buf(v), send_counts(c), [send_displs(_out)],
  /// [recv_buf], [recv_counts(_out)], [recv_displs(_out)]).
  ///
  /// recv_counts is given on all ranks or on none; without it one alltoall of a single integer finds it. In
  /// place: send_recv_buf(v), recv_counts(c), where each pair of ranks exchanges as much in both directions.
  ///
  ///     auto [received, counts] = comm.alltoallv(send_buf(v), send_counts(c), recv_counts_out());
  template <class... Args>
  auto alltoallv(Args&&... args) const {
    return detail::invoke<detail::form{collective::alltoallv}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ialltoallv(Args&&... args) const {
    return detail::invoke<detail::form{collective::alltoallv, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto alltoallv_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::alltoallv, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// The same with blocks of any layout: alltoallw(send_buf(v), send_counts(c), send_types(t),
  /// recv_counts(c), recv_types(t), [send_displs], [recv_displs], [recv_buf]).
  ///
  /// Block i is c[i] items of layout t[i] (core/layout.hpp), from byte send_displs[i] of v on; without
  /// displacements one begins an extent after the other. What lies between the pieces of a layout is neither
  /// read nor written. Both ranks of a pair give as many bytes. In place: send_recv_buf(v), recv_counts(c),
  /// recv_types(t). Blocks with gaps are packed and unpacked, one copy each way.
  ///
  ///     std::vector<layout> columns(p, layout::vector(rows, 8, 8 * p)), dense(p, layout::contiguous(8 *
  ///     rows)); comm.alltoallw(send_buf(matrix), send_counts(ones), send_displs(byte_of_column),
  ///     send_types(columns),
  ///                    recv_buf(transposed), recv_counts(ones), recv_types(dense));
  template <class... Args>
  auto alltoallw(Args&&... args) const {
    return detail::invoke<detail::form{collective::alltoallw}, void>(self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ialltoallw(Args&&... args) const {
    return detail::invoke<detail::form{collective::alltoallw, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto alltoallw_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::alltoallw, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// All ranks' elements combined, and cut into blocks of given lengths: reduce_scatter(send_buf(v), op(f),
  /// recv_counts(c), [recv_buf]).
  ///
  /// The same c on all ranks, of length p; v holds sum(c) elements and rank i receives block i, of c[i].
  template <class... Args>
  auto reduce_scatter(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce_scatter}, void>(self(),
                                                                          static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ireduce_scatter(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce_scatter, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto reduce_scatter_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce_scatter, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

  /// The same with blocks of one length: reduce_scatter_block(send_buf(v), op(f), [recv_buf],
  /// [recv_count(_out)]).
  ///
  /// v holds n * p elements, cut evenly, or recv_count in each block; rank i receives block i of the
  /// combination, n elements. In place: send_recv_buf(v); the result stands in its first n elements.
  ///
  ///     auto part = comm.reduce_scatter_block(send_buf(v), op(std::plus<>{}));
  template <class... Args>
  auto reduce_scatter_block(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce_scatter_block}, void>(self(),
                                                                                static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto ireduce_scatter_block(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce_scatter_block, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class... Args>
  auto reduce_scatter_block_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::reduce_scatter_block, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }

 protected:
  collectives() = default;

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace tutti

// SPDX-License-Identifier: Apache-2.0
//
// The collectives that go within one group and between two alike, as member functions with named parameters:
// those that move elements. What combines them is in reductions.hpp. Longer than a file should be: each
// collective has its contract.
//
// communicator.hpp says what holds for all of them: forms, results, errors. Here stands what each one takes
// and gives: p is the number of ranks, n the elements of one block, [brackets] what may be left out, `(_out)`
// what may be asked for. An exchange of counts is one more collective of one std::size_t a rank.
#pragma once

#include <source_location>

#include "tutti/face/complaint.hpp"  // first: the way to it is part of every message
#include "tutti/face/invoke.hpp"
#include "tutti/reductions.hpp"

namespace tutti {

/// The base of communicator and intercommunicator. What is said here is what they do within one group;
/// intercommunicator.hpp says what changes between two. Nothing else derives from it.
template <class Self>
class collectives : public reductions<Self> {
 public:
  /// Returns on no rank before all ranks have called it. Takes algorithm() and composition() only.
  ///
  /// ```cpp
  /// world.barrier();
  /// ```
  template <class... Args>
  auto barrier(Args&&... args) const {
    return detail::invoke<detail::form{collective::barrier}, void>(self(), static_cast<Args&&>(args)...);
  }
  auto barrier(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::barrier}, void>(self(), at);
  }
  template <class... Args>
  auto ibarrier(Args&&... args) const {
    return detail::invoke<detail::form{collective::barrier, detail::mode::nonblocking}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  auto ibarrier(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::barrier, detail::mode::nonblocking}, void>(self(),
                                                                                                    at);
  }
  template <class... Args>
  auto barrier_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::barrier, detail::mode::persistent}, void>(
        self(), static_cast<Args&&>(args)...);
  }
  auto barrier_init(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::barrier, detail::mode::persistent}, void>(self(),
                                                                                                   at);
  }

  /// The root's elements, on all ranks.
  ///
  /// `bcast(send_recv_buf(x), [root], [send_recv_count(_out)])`
  ///
  /// The root passes n elements. The others pass a container for n elements, or name the type alone:
  /// `bcast<T>(root(q))`. bcast_single moves exactly one element, and returns a T unless x is an lvalue.
  ///
  /// Exchange of counts: one bcast, so that the others learn n. None in bcast_single, where x is a single
  /// value on all ranks, or where all ranks give send_recv_count.
  ///
  /// ```cpp
  /// int steps = world.is_root() ? 100 : 0;
  /// world.bcast(send_recv_buf(steps));
  /// assert(steps == 100);
  ///
  /// std::vector<double> mine = {0.5, 1.5};
  /// auto all = world.is_root() ? world.bcast(send_recv_buf(std::move(mine))) : world.bcast<double>();
  /// assert(all.size() == 2);
  /// ```
  template <class T = void, class... Args>
  auto bcast(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast}, T>(self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto bcast(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::bcast}, T>(self(), at);
  }
  template <class T = void, class... Args>
  auto ibcast(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast, detail::mode::nonblocking}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto ibcast(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::bcast, detail::mode::nonblocking}, T>(self(), at);
  }
  template <class T = void, class... Args>
  auto bcast_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::bcast, detail::mode::persistent}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto bcast_init(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::bcast, detail::mode::persistent}, T>(self(), at);
  }

  /// All ranks' blocks in the order of ranks, at the root.
  ///
  /// `gather(send_buf(v), [root], [recv_buf], [send_count(_out)], [recv_count(_out)])`, in place
  /// `send_recv_buf(v)`
  ///
  /// n elements from each rank, the same n everywhere: all of v, or the first send_count. The root receives
  /// n * p elements, the others an empty container, and an lvalue recv_buf of theirs is not touched. In place
  /// the root's v holds n * p elements with its own block in its place, the others' v their n.
  ///
  /// Exchange of counts: none; blocks that differ in length are gatherv's.
  ///
  /// ```cpp
  /// std::vector<int> ranks = world.gather(send_buf(world.rank()), root(0));
  /// if (world.is_root()) assert(ranks.back() == world.size() - 1);
  /// ```
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

  /// Blocks of different lengths, in the order of ranks, at the root.
  ///
  /// `gatherv(send_buf(v), [root], [recv_buf], [send_count(_out)], [recv_counts(_out)],
  /// [recv_displs(_out)])`, in place `gatherv(send_recv_buf(v), recv_counts(c), ...)`
  ///
  /// Each rank gives all of v, or the first send_count elements. recv_counts has p entries at the root and is
  /// not read elsewhere; it is given on all ranks or on none. recv_displs says where in recv_buf each block
  /// goes; what lies between is not touched. Off the root all out parameters stay empty.
  ///
  /// Exchange of counts: one gather, unless recv_counts is given. Where one rank refuses its arguments in it,
  /// the root alone is told; the others may wait until that rank ends.
  ///
  /// ```cpp
  /// std::vector<int> v(world.rank() + 1, world.rank());  // 0, 1 1, 2 2 2 ...
  /// auto [all, counts] = world.gatherv(send_buf(v), recv_counts_out());
  /// if (world.is_root()) assert(counts.back() == world.size());
  /// ```
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

  /// The root's blocks, one to each rank.
  ///
  /// `scatter(send_buf(v), [root], [recv_buf], [send_count(_out)], [recv_count(_out)])`, in place
  /// `send_recv_buf(v)`
  ///
  /// The root's v holds n * p elements, cut evenly, or send_count in each block; the others leave it out and
  /// name the type: `scatter<T>(root(q))`. Each rank receives n. In place the root's own block stays where it
  /// is. scatter_single gives one element to each rank, and returns a T.
  ///
  /// Exchange of counts: one bcast, so that the others learn n, unless recv_count is given on all ranks. None
  /// in scatter_single.
  ///
  /// Throws usage_error at the root where p does not divide its elements; the others are told in the
  /// exchange.
  ///
  /// ```cpp
  /// std::vector<int> all(2 * world.size(), 7);
  /// auto mine = world.is_root() ? world.scatter(send_buf(all)) : world.scatter<int>();
  /// assert(mine.size() == 2);
  /// ```
  template <class T = void, class... Args>
  auto scatter(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter}, T>(self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto scatter(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::scatter}, T>(self(), at);
  }
  template <class T = void, class... Args>
  auto iscatter(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter, detail::mode::nonblocking}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto iscatter(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::scatter, detail::mode::nonblocking}, T>(self(), at);
  }
  template <class T = void, class... Args>
  auto scatter_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatter, detail::mode::persistent}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto scatter_init(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::scatter, detail::mode::persistent}, T>(self(), at);
  }

  /// The root's blocks of different lengths, one to each rank.
  ///
  /// `scatterv(send_buf(v), send_counts(c), [send_displs(_out)], [root], [recv_buf], [recv_count(_out)])`, in
  /// place `scatterv(send_recv_buf(v), send_counts(c), ...)`; send_counts_out() where recv_count is given
  ///
  /// send_counts has p entries, send_displs says where in v each block begins. All three are read at the root
  /// and may be left out elsewhere: `scatterv<T>(root(q))`.
  ///
  /// Exchange of counts: one scatter, unless recv_count is given on all ranks; one gather for
  /// send_counts_out(), which all ranks ask for or none.
  ///
  /// ```cpp
  /// std::vector<int> all(world.size() + 3), counts(world.size(), 1);
  /// counts[0] = 4;
  /// auto mine = world.is_root() ? world.scatterv(send_buf(all), send_counts(counts)) :
  /// world.scatterv<int>(); assert(mine.size() == (world.is_root() ? 4 : 1));
  /// ```
  template <class T = void, class... Args>
  auto scatterv(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatterv}, T>(self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto scatterv(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::scatterv}, T>(self(), at);
  }
  template <class T = void, class... Args>
  auto iscatterv(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatterv, detail::mode::nonblocking}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto iscatterv(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::scatterv, detail::mode::nonblocking}, T>(self(), at);
  }
  template <class T = void, class... Args>
  auto scatterv_init(Args&&... args) const {
    return detail::invoke<detail::form{collective::scatterv, detail::mode::persistent}, T>(
        self(), static_cast<Args&&>(args)...);
  }
  template <class T = void>
  auto scatterv_init(std::source_location at = std::source_location::current()) const {
    return detail::invoke_alone<detail::form{collective::scatterv, detail::mode::persistent}, T>(self(), at);
  }

  /// All ranks' blocks in the order of ranks, on all ranks.
  ///
  /// `allgather(send_buf(v), [recv_buf], [send_count(_out)], [recv_count(_out)])`, in place
  /// `send_recv_buf(v)`
  ///
  /// n elements from each rank, the same n everywhere: all of v, or the first send_count; n * p are received.
  /// In place v holds n * p elements with this rank's block in its place.
  ///
  /// Exchange of counts: none; blocks that differ in length are allgatherv's.
  ///
  /// ```cpp
  /// std::vector<int> ranks = world.allgather(send_buf(world.rank()));
  /// assert(ranks[1 % world.size()] == 1 % world.size());
  /// ```
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

  /// Blocks of different lengths, in the order of ranks, on all ranks.
  ///
  /// `allgatherv(send_buf(v), [recv_buf], [send_count(_out)], [recv_counts(_out)], [recv_displs(_out)])`, in
  /// place `allgatherv(send_recv_buf(v), recv_counts(c), ...)`
  ///
  /// Each rank gives all of v, or the first send_count elements. recv_counts has p entries and is given on
  /// all ranks or on none. recv_displs says where in recv_buf each block goes; what lies between is not
  /// touched.
  ///
  /// Exchange of counts: one allgather, unless recv_counts is given.
  ///
  /// ```cpp
  /// std::vector<int> v(world.rank() + 1, world.rank());  // 0, 1 1, 2 2 2 ...
  /// auto all = world.allgatherv(send_buf(v));
  /// auto [same, counts] = world.allgatherv(send_buf(v), recv_counts_out());
  /// assert(same == all && counts[0] == 1);
  /// ```
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

  /// Block i of each rank goes to rank i.
  ///
  /// `alltoall(send_buf(v), [recv_buf], [send_count(_out)], [recv_count(_out)])`, in place `send_recv_buf(v)`
  ///
  /// v holds n * p elements, cut evenly, or send_count in each block; n is the same everywhere. n * p
  /// elements are received, block i from rank i.
  ///
  /// Exchange of counts: none.
  ///
  /// Throws usage_error where p does not divide the elements.
  ///
  /// ```cpp
  /// std::vector<int> row(world.size(), world.rank());
  /// std::vector<int> column = world.alltoall(send_buf(row));
  /// assert(column[0] == 0 && column.back() == world.size() - 1);
  /// ```
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

  /// Blocks of different lengths: block i of each rank goes to rank i.
  ///
  /// `alltoallv(send_buf(v), send_counts(c), [send_displs(_out)], [recv_buf], [recv_counts(_out)],
  /// [recv_displs(_out)])`, in place `alltoallv(send_recv_buf(v), recv_counts(c), [recv_displs(_out)])`; with
  /// `send_counts_out(), recv_counts(c)` who receives says how much, and who sends is told
  ///
  /// Counts and displacements have p entries. recv_counts is given on all ranks or on none. What lies between
  /// the blocks is neither read nor written. In place each pair of ranks exchanges as much in both
  /// directions.
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

  /// Blocks of any layout: block i of each rank goes to rank i.
  ///
  /// `alltoallw(send_buf(v), send_counts(c), send_types(t), recv_counts(c), recv_types(t), [send_displs],
  /// [recv_displs], [recv_buf])`, in place `alltoallw(send_recv_buf(v), recv_counts(c), recv_types(t),
  /// [recv_displs])`
  ///
  /// Block i is c[i] items of layout t[i] (core/layout.hpp), beginning at byte send_displs[i] of v; without
  /// displacements one block begins where the extent of the one before it ends. Displacements are in bytes
  /// here, all lists have p entries. What lies between the pieces of a layout is neither read nor written.
  /// The two ranks of a pair give as many bytes.
  ///
  /// Exchange of counts: none. Blocks with gaps are packed and unpacked, a copy each way.
  ///
  /// ```cpp
  /// int p = world.size();
  /// std::vector<int> row(p, world.rank()), ones(p, 1);
  /// std::vector<layout> types(p, layout::contiguous(sizeof(int)));
  /// auto column = world.alltoallw(send_buf(row), send_counts(ones), send_types(types),
  ///                               recv_counts(ones), recv_types(types));
  /// assert(column.back() == p - 1);
  /// ```
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

 protected:
  collectives() = default;

 private:
  const Self& self() const noexcept { return static_cast<const Self&>(*this); }
};

}  // namespace tutti

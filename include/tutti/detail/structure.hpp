// SPDX-License-Identifier: Apache-2.0
//
// Groups in which each member knows only a few others: the data of chain, ring, logchain and
// logring (tutti/group.hpp), and the library's operations on them. They follow LWGRP (Moody, Ahn,
// de Supinski: Exascale algorithms for generalized MPI_Comm_split, EuroMPI 2011).
//
// ```cpp
// #include <tutti/detail/structure.hpp>
// const detail::neighbors all = detail::neighbors_in(detail::impl_of(world), false);
// assert(all.size == world.size() && all.rank == world.rank());
// assert((all.left == rank::null) == (all.rank == 0));
// ```
#pragma once

#include <cstdint>
#include <source_location>
#include <span>

#include "tutti/detail/abi.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/p2p_abi.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// Addresses are ranks of the parent, which must outlive this. For a rank in no group the size is 0
/// and the addresses are rank::null.
struct neighbors {
  communicator_impl* parent = nullptr;
  int size = 0, rank = 0;
  int address = rank::null, left = rank::null, right = rank::null;
};

/// The same with the members 2^d hops away; the address of a member that does not exist is
/// rank::null.
struct hops {
  static constexpr int max_distances = 31;
  neighbors all;
  int left[max_distances], right[max_distances];
};

/// ceil(log2(n)): the number of distances in the log forms.
constexpr int distances(int n) noexcept {
  int d = 0;
  while (d < hops::max_distances && (std::int64_t{1} << d) < n) ++d;
  return d;
}

/// Local: all ranks of a communicator, or those of a list that contains the caller. `wraps` makes a
/// ring. Throws usage_error if the list has an invalid rank, has one twice, or lacks the caller.
/// Also throws it if the parent was freed or knows only a few ranks. `operation` is the name for
/// that error, if it is not chain or ring.
neighbors neighbors_in(communicator_impl& parent, bool wraps, const char* operation = nullptr);
neighbors neighbors_in(communicator_impl& parent, bool wraps, std::span<const int> ranks);
hops hops_in(communicator_impl& parent, bool wraps);

/// Local: disconnects the ends of a ring.
neighbors open_ring(neighbors ring) noexcept;
hops open_ring(hops ring) noexcept;
/// Collective over the members, ceil(log2(size)) rounds: connects the ends of a chain.
neighbors close_chain(const neighbors& chain, const std::source_location& at);
/// Collective over the members, ceil(log2(size)) rounds: finds the members 2^d hops away, d = 0 ..
/// ceil(log2(size)) - 1.
hops hops_of(const neighbors& of, bool wraps, const std::source_location& at);

/// Collective over the members, ceil(log2(size)) rounds. split() returns the members of one color,
/// in the order of keys, then of ranks. Each member sees all colors and keys, which takes O(size)
/// memory. split_bin() returns the members of one bin, in the order of ranks. It sends O(bins)
/// words per round. A color or bin below 0 gives no group. Throws usage_error if the bin does not
/// exist.
neighbors split(const neighbors& chain, bool wraps, int color, int key);
neighbors split_bin(const neighbors& chain, bool wraps, int bins, int bin);

/// Collective over the members: a communicator of the members that knows only the ranks that the
/// structure knows. Throws usage_error if `parent` is not their parent, if it was freed, or if the
/// caller is in no group.
communicator_handle over(communicator_impl& parent, const neighbors& of, bool wraps);
communicator_handle over(communicator_impl& parent, const hops& of, bool wraps);

}  // namespace tutti::detail
TUTTI_API_END

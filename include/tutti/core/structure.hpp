// SPDX-License-Identifier: Apache-2.0
//
// Groups of which each member knows a few others only: what chain, ring, logchain and logring
// (tutti/group.hpp) are made of, and what the library does with them. After LWGRP's (Moody, Ahn, de Supinski:
// Exascale algorithms for generalized MPI_Comm_split, EuroMPI 2011).
//
// ```cpp
// #include <tutti/core/structure.hpp>
// const detail::neighbours all = detail::neighbours_in(world.native(), false);
// assert(all.size == world.size() && all.rank == world.rank() && (all.left == rank::null) == (all.rank ==
// 0));
// ```
#pragma once

#include <cstdint>
#include <span>

#include "tutti/core/mail.hpp"
#include "tutti/core/port.hpp"

namespace tutti::detail {

/// Addresses are ranks of the parent, which must outlive this. Of who is in no group: size 0, addresses
/// rank::null.
struct neighbours {
  core* parent = nullptr;
  int size = 0, rank = 0;
  int address = rank::null, left = rank::null, right = rank::null;
};

/// With the members 2^d hops away; those that do not exist are rank::null.
struct hops {
  static constexpr int most = 31;
  neighbours all;
  int left[most], right[most];
};

/// ceil(log2(n)): how many distances the log forms have.
constexpr int distances(int n) noexcept {
  int d = 0;
  while (d < hops::most && (std::int64_t{1} << d) < n) ++d;
  return d;
}

/// Local: all ranks of a communicator, or those of a list, which has the own one. `wraps`: a ring. Throws
/// usage_error where the list has what is no rank, one twice, or not the own one, and where the parent was
/// freed or knows a few ranks only. `operation`: for that, where it is not chain or ring.
neighbours neighbours_in(core& parent, bool wraps, const char* operation = nullptr);
neighbours neighbours_in(core& parent, bool wraps, std::span<const int> ranks);
hops hops_in(core& parent, bool wraps);

/// Local: the ends of a ring let go of one another.
neighbours opened(neighbours ring) noexcept;
hops opened(hops ring) noexcept;
/// Collective over the members, ceil(log2(size)) rounds: the ends of a chain find one another.
neighbours closed(const neighbours& chain);
/// Collective over the members, as many rounds: who is 2^d hops away, d = 0 .. ceil(log2(size)) - 1.
hops hops_of(const neighbours& of, bool wraps);

/// Collective over the members, as many rounds. split(): of one colour, in the order of keys, then of ranks;
/// each member sees all colours and keys, O(size) memory. split_bin(): of one bin, in the order of ranks;
/// O(bins) words a round. A colour or bin below 0: no group. Throws usage_error where there is no such bin.
neighbours split(const neighbours& chain, bool wraps, int color, int key);
neighbours split_bin(const neighbours& chain, bool wraps, int bins, int bin);

/// Collective over the members: a communicator of theirs, whose members know whom these know. usage_error
/// where `parent` is not their parent, or was freed, or the caller is in no group.
core_handle over(core& parent, const neighbours& of, bool wraps);
core_handle over(core& parent, const hops& of, bool wraps);

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// How a native collective in the memory of a node is divided into rounds. In a round a member posts
// at most one slot. All members compute the same numbers, because these depend only on the kind,
// the length, the element, the number of members and the slot. Long calls may go by address instead
// (memory_by_address.hpp), and calls with blocks of varying length have one round
// (varying_blocks.hpp). The constants for tuning are here.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/agreed_signature.hpp"

namespace tutti::detail {

/// Whether native collectives of this kind may use the memory of a node.
constexpr bool has_memory_form(collective what) noexcept {
  switch (what) {
    case collective::barrier:
    case collective::bcast:
    case collective::reduce:
    case collective::allreduce:
    case collective::gather:
    case collective::scatter:
    case collective::allgather:
    case collective::allgatherv:
    case collective::alltoall:
    case collective::reduce_scatter_block:
    case collective::scan:
    case collective::exscan:
    case collective::gatherv:
    case collective::scatterv:
    case collective::alltoallv:
      return true;
    default:
      return false;
  }
}

/// Whether no member knows the lengths of all blocks (varying_blocks.hpp).
constexpr bool has_varying_blocks(collective what) noexcept {
  return what == collective::gatherv || what == collective::scatterv || what == collective::alltoallv;
}

/// Whether a member posts a block for each member.
constexpr bool posts_blocks_for_all(collective what) noexcept {
  return what == collective::scatter || what == collective::alltoall ||
         what == collective::reduce_scatter_block;
}

/// The bytes that a member may post without a slot.
inline constexpr std::size_t post_line_bytes = 48;

/// The slots of a node with this many ranks. The memory of 128 ranks stays below 36 MiB.
constexpr std::size_t slot_bytes_of_node(int ranks) noexcept {
  constexpr std::size_t kib = 1024;
  return ranks <= 8    ? 64 * kib
         : ranks <= 16 ? 32 * kib
         : ranks <= 32 ? 16 * kib
         : ranks <= 64 ? 8 * kib
                       : 4 * kib;
}

/// Whether a slot holds the lengths of a block for each member.
constexpr bool posts_lengths(int ranks, std::size_t slot) noexcept {
  return static_cast<std::size_t>(ranks) * sizeof(std::uint64_t) <= slot;
}

// --- constants for tuning

/// Members of an allreduce combine a slice each, and exchange the results, if the operand is
/// longer.
constexpr std::size_t max_bytes_without_slices(int ranks) noexcept { return ranks < 4 ? 8192 : 2048; }
/// The least part of a long block that a member posts for another one in a round.
inline constexpr std::size_t min_part_bytes = 64;

/// A call goes by address if a reader gets at least this many bytes from an owner. For a kind that
/// is_measured(), this is the choice while no times are known. With fewer cores
/// than ranks each round costs the change to another process, and such a call has one round or two.
/// The kernel copies at 14 GB/s on the machine where this was measured (2 cores, 2 to 8 ranks). A
/// copy by way of slots, which stay in the cache, is faster unless it copies what few members read,
/// or needs many changes.
struct address_limits {
  std::size_t with_cores, without_cores;
};
inline constexpr std::size_t never_by_address = ~std::size_t{0};
constexpr address_limits address_limits_of(collective what) noexcept {
  constexpr std::size_t kib = 1024, mib = 1024 * kib;
  switch (what) {
    case collective::scatter:
      return {64 * kib, 16 * kib};
    case collective::alltoall:
      return {2 * mib, 64 * kib};
    case collective::bcast:
      return {never_by_address, 8 * mib};
    case collective::allgather:
    case collective::allgatherv:  // the mean block
      return {4 * mib, never_by_address};
    case collective::allreduce:  // of the slice that a member combines
      return {never_by_address, 4 * mib};
    case collective::reduce_scatter_block:
      return {4 * mib, 128 * kib};
    default:
      return {never_by_address, never_by_address};
  }
}
/// Whether a call of this kind in place overwrites what others read of its operand. Then it does
/// not go by address.
constexpr bool overwrites_in_place(collective what) noexcept {
  return what == collective::alltoall || what == collective::reduce_scatter_block;
}
/// The shortest call by address. `limit`: one of address_limits_of(). Both are compared with the
/// bytes of the operand or of a block; in an allgatherv, of all blocks.
constexpr std::size_t min_call_by_address(collective what, std::size_t limit, int ranks) noexcept {
  const bool of_all = what == collective::allreduce || what == collective::allgatherv;
  return of_all && limit != never_by_address ? limit * static_cast<std::size_t>(ranks) : limit;
}
/// `min_bytes`: of min_call_by_address().
constexpr bool goes_by_address(collective what, std::size_t bytes, bool in_place,
                               std::size_t min_bytes) noexcept {
  return bytes >= min_bytes && !(in_place && overwrites_in_place(what));
}
/// With a core for each rank, the members measure whether a call is faster by address or in pieces
/// (measured_times.hpp), if a reader gets at least this many bytes from an owner.
inline constexpr std::size_t min_measured_part_bytes = 192 * 1024;
/// Whether the members measure a call. `bytes`: of the operand or of a block; in an allgatherv, of
/// all blocks. `min_part`: as min_measured_part_bytes.
constexpr bool is_measured(collective what, std::size_t bytes, bool in_place, int ranks,
                           std::size_t min_part) noexcept {
  if (in_place && overwrites_in_place(what)) return false;
  const auto p = static_cast<std::size_t>(ranks);
  switch (what) {
    case collective::allreduce:
    case collective::allgatherv:
      return bytes / p >= min_part;
    case collective::scatter:
    case collective::allgather:
    case collective::alltoall:
    case collective::reduce_scatter_block:
      return bytes >= min_part;
    case collective::exscan:  // of more members, the later ones wait for one another's sums
      return ranks == 2 && bytes >= min_part;
    default:
      return false;
  }
}
/// The shortest operand of a call that looks for shared buffers, in bytes.
inline constexpr std::size_t min_bytes_in_shared_buffers = 16384;
/// A reduction by address reads and combines this many bytes at a time. They stay in the L2 cache.
inline constexpr std::size_t combined_piece_bytes = 65536;

// --- the division

/// Part `i` of `n` units that are divided into `parts`.
struct unit_slice {
  std::size_t at, n;
};
constexpr unit_slice slice_of(std::size_t n, int parts, int i) noexcept {
  const auto p = static_cast<std::size_t>(parts), k = static_cast<std::size_t>(i);
  const std::size_t quotient = n / p, rest = n % p;
  return {k * quotient + std::min(k, rest), quotient + (k < rest ? 1 : 0)};
}

struct call_pieces {
  std::size_t unit = 1;       ///< bytes that are not cut: an element of a reduction, else 1
  std::size_t length = 0;     ///< units of the operand, or of a block
  std::size_t per_round = 0;  ///< units of the operand, or of each block, in one round
  bool in_slices = false;     ///< an allreduce that needs two rounds for a piece
  bool served = false;        ///< false: MPI runs the call

  constexpr std::uint64_t rounds() const noexcept {
    const std::size_t pieces = length <= per_round ? 1 : (length + per_round - 1) / per_round;
    return in_slices ? 2 * pieces : pieces;
  }
};

/// The units of each block in one round of a call that has many rounds; a round fills a slot. 0:
/// memory cannot serve the call. `blocks`: how many blocks a member posts. The root of a bcast is
/// faster with shorter pieces while two cores share a cache, and slower otherwise.
constexpr std::size_t units_per_round(std::size_t unit, std::size_t blocks, std::size_t slot) noexcept {
  std::size_t units = slot / blocks / unit;
  if (unit == 1) units -= units % 16;
  return units * unit >= min_part_bytes || blocks == 1 ? units : 0;
}

/// `count`: elements of the operand or of a block; in an allgatherv, of the longest block; ignored
/// if lengths vary. `slot`: the bytes of a slot; 0: the members have lines only.
constexpr call_pieces divide(collective what, std::size_t count, std::size_t element, int ranks,
                             std::size_t slot) noexcept {
  call_pieces made;
  if (!has_memory_form(what) || (is_vector_form(what) && slot == 0)) return made;
  if (has_varying_blocks(what)) {
    made.served = posts_lengths(ranks, slot);
    return made;
  }
  const bool cuts_elements = !combines(what);
  made.unit = cuts_elements ? 1 : element;
  made.length = what == collective::barrier ? 0 : cuts_elements ? count * element : count;
  const std::size_t blocks = posts_blocks_for_all(what) ? static_cast<std::size_t>(ranks) : 1;
  const std::size_t all = made.length * made.unit * blocks;
  made.in_slices = what == collective::allreduce && all > max_bytes_without_slices(ranks);
  made.per_round = made.length;
  made.served = true;
  if (all <= std::max(slot, post_line_bytes)) return made;
  made.per_round = units_per_round(made.unit, blocks, slot);
  made.served = made.per_round > 0;
  return made;
}

/// The longest operand or block that memory serves, in bytes.
constexpr std::size_t max_bytes_in_memory(collective what, std::size_t element, int ranks,
                                          std::size_t slot) noexcept {
  constexpr std::size_t any_length = ~std::size_t{0} / 2;
  if (what == collective::barrier || (has_varying_blocks(what) && posts_lengths(ranks, slot)))
    return any_length;
  const std::size_t blocks = posts_blocks_for_all(what) ? static_cast<std::size_t>(ranks) : 1;
  if (units_per_round(combines(what) ? element : 1, blocks, slot) > 0) return any_length;
  return is_vector_form(what) ? 0 : std::max(slot, post_line_bytes) / blocks;
}

/// The longest bcast or allreduce that needs one round.
constexpr std::size_t max_bytes_of_one_round(collective what, int ranks, std::size_t slot) noexcept {
  const std::size_t piece = std::max(post_line_bytes, slot);
  return what == collective::allreduce ? std::min(piece, max_bytes_without_slices(ranks)) : piece;
}

/// Whether the memory of a node serves such a call, if the members have slots and are the node's
/// only ranks.
constexpr bool in_node_memory(const agreed_signature& s) noexcept {
  return s.ranks > 1 && !s.inter && has_memory_form(s.what) &&
         divide(s.what, s.count, s.element_size, s.ranks, slot_bytes_of_node(s.ranks)).served;
}

}  // namespace tutti::detail

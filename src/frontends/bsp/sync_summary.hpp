// SPDX-License-Identifier: Apache-2.0
//
// The sync summary: the data that all processes combine in each sync. It consists of flags and of
// small data that are piggybacked, so that they need no message. The data are the first small
// reduction over all processes, or small puts. Each of two processes may put once. Over MPI, each
// process may put twice if all share the memory of a node. The processes read the puts of more than
// two processes in their lines (repeated_allreduce.hpp), because the combined summary has no space
// for them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "base/compute/kernels.hpp"
#include "frontends/bsp/collective_calls.hpp"
#include "frontends/bsp/outbox.hpp"

namespace tutti::bsp {

/// The flags. The exchange of the summaries combines them by bitwise or.
namespace summaries {
inline constexpr std::uint32_t leaving = 1;          ///< a process leaves the section
inline constexpr std::uint32_t syncing = 2;          ///< a process syncs
inline constexpr std::uint32_t failed = 4;           ///< a process has failed
inline constexpr std::uint32_t messages = 8;         ///< there are messages outside the summary
inline constexpr std::uint32_t second_barrier = 16;  ///< a second barrier follows: memory is read
inline constexpr std::uint32_t many_calls = 32;      ///< a process has more than one collective
inline constexpr std::uint32_t differing = 64;       ///< the data differ in kind or length
inline constexpr std::uint32_t nesting = 128;        ///< a process begins a section within this one
inline constexpr std::uint32_t may_throw = 256;      ///< a collective has a function of the program
inline constexpr std::uint32_t no_lines = 512;       ///< a process reads the combined summary only

// The upper bits hold a digest of the collectives that all processes make, and its complement. If
// two processes have different digests, then digest and complement share a bit in the combined
// flags.
inline constexpr unsigned flag_bits = 10, digest_bits = 11;
inline constexpr std::uint32_t digest_mask = (1u << digest_bits) - 1;
constexpr std::uint32_t encode_digest(std::uint32_t digest) noexcept {
  digest = (digest ^ digest >> digest_bits ^ digest >> 2 * digest_bits) & digest_mask;
  return digest << flag_bits | (~digest & digest_mask) << (flag_bits + digest_bits);
}
constexpr bool digests_differ(std::uint32_t all) noexcept {
  return ((all >> flag_bits) & (all >> (flag_bits + digest_bits)) & digest_mask) != 0;
}
}  // namespace summaries

/// A put that travels in the summary.
struct piggybacked_put {
  std::uint32_t remote_slot, remote_offset;
  std::uint8_t to, from;
  std::uint16_t bytes;
  std::byte inline_data[8];

  static constexpr int max_processes = 256;  // `to` and `from` have 8 bits
  explicit piggybacked_put(const message& m) noexcept
      : remote_slot(static_cast<std::uint32_t>(m.remote_slot)),
        remote_offset(static_cast<std::uint32_t>(m.remote_offset)),
        to(static_cast<std::uint8_t>(m.peer)),
        from(static_cast<std::uint8_t>(m.origin())),
        bytes(static_cast<std::uint16_t>(m.bytes)) {
    compute::copy(inline_data, m.source, m.bytes);
  }
  static bool fits(const message& m) noexcept {
    return m.kind() == message_kind::put && m.bytes <= sizeof inline_data && m.remote_slot <= UINT32_MAX &&
           m.remote_offset <= UINT32_MAX;
  }
};

struct alignas(16) sync_summary {
  static constexpr std::size_t payload_bytes = 40;
  /// `used` of a combined summary whose payload cannot hold the puts of all.
  static constexpr std::uint16_t too_many_puts = payload_bytes + 1;
  std::byte payload[payload_bytes];  // first, so that operands have the alignment of the summary
  std::uint32_t flags = 0;
  std::uint16_t used = 0;          // bytes of the payload, or too_many_puts
  std::uint16_t is_reduction = 0;  // 1: an operand; 0: puts

  const piggybacked_put& operator[](std::size_t i) const noexcept {
    return *std::launder(reinterpret_cast<const piggybacked_put*>(payload + i * sizeof(piggybacked_put)));
  }
};
static_assert(sizeof(piggybacked_put) == 20 && 2 * sizeof(piggybacked_put) == sync_summary::payload_bytes &&
              sizeof(sync_summary) == 48);

/// A reduction that travels in the summary.
struct piggybacked_reduction {
  reduction_operator how;
  std::size_t count = 0;  // 0: none
  void* data = nullptr;
  int root = -1;  // negative: all processes receive the result
  process_set_id set = 0;
  std::size_t position = 0;  // among the calls of the set

  std::size_t bytes() const noexcept { return count * how.type.size; }
};

/// Combines two summaries; `state` points to a piggybacked_reduction.
inline void combine_summaries(const void* left, const void* right, void* result, std::size_t, void* state) {
  sync_summary all = *static_cast<const sync_summary*>(left);
  const auto& other = *static_cast<const sync_summary*>(right);
  all.flags |= other.flags;
  if (other.used != 0 || all.used != 0) {
    const auto& r = *static_cast<const piggybacked_reduction*>(state);
    if (all.is_reduction == other.is_reduction && all.is_reduction == 1 && all.used == other.used &&
        r.bytes() == all.used)
      combine_into(r.how, r.count, other.payload, all.payload);
    else if (all.is_reduction != other.is_reduction || all.is_reduction == 1)
      all.flags |= summaries::differing;
    else if (all.used + other.used > sync_summary::payload_bytes)
      all.used = sync_summary::too_many_puts;
    else {
      std::memcpy(all.payload + all.used, other.payload, other.used);
      all.used = static_cast<std::uint16_t>(all.used + other.used);
    }
  }
  *static_cast<sync_summary*>(result) = all;
}

}  // namespace tutti::bsp

// SPDX-License-Identifier: Apache-2.0
//
// The part of a call that the choice of an algorithm may depend on. Ranks that choose differently
// deadlock. Therefore selection receives only an `agreed_signature`: every field has the same value
// on all ranks of a correct program. Values that only this rank knows stay in `call`, and selection
// cannot read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

#include "tutti/call.hpp"

namespace tutti::detail {

struct agreed_signature {
  collective what = collective::barrier;
  int ranks = 1;
  std::size_t count = 0;  // elements of a block; 0 for vector forms, whose counts are local
  std::size_t element_size = 1;
  element_kind kind = element_kind::opaque;
  builtin_op op = builtin_op::user;
  bool commutative = true;  // also true if the call combines nothing
  bool in_place = false;
  bool inter = false;  // between two groups
  // The bytes of all blocks, if has_agreed_counts(what) and the call has one group; else 0.
  std::uint64_t total_bytes = 0;

  std::size_t bytes() const noexcept { return count * element_size; }
  friend bool operator==(const agreed_signature&, const agreed_signature&) = default;
};

/// Whether an engine offers a native collective for a call.
enum class native_offer : std::uint8_t {
  none,
  /// Does not report operands of different lengths; used only if the program or its user names it.
  by_name,
  any
};

/// Vector forms in which each rank passes the counts of all ranks. These are the same on all ranks.
constexpr bool has_agreed_counts(collective what) noexcept {
  return what == collective::allgatherv || what == collective::reduce_scatter;
}

/// The bytes of all blocks of a call with agreed counts. Saturates at the largest value. O(ranks).
inline std::uint64_t agreed_total(const counts_view& counts, std::size_t element_size) noexcept {
  std::uint64_t sum = 0;
  bool overflow = false;
  for (std::size_t i = 0; i < counts.size(); ++i) overflow |= __builtin_add_overflow(sum, counts[i], &sum);
  overflow |= __builtin_mul_overflow(sum, element_size, &sum);
  return overflow ? std::numeric_limits<std::uint64_t>::max() : sum;
}

/// The agreed part of a call. `root` is agreed too, but no choice depends on it, because all roots
/// are equivalent.
inline agreed_signature agreed_part(const call& c, int ranks, bool inter = false) noexcept {
  // All ranks are in place, or none. The exception is a rooted call, where the root alone may be.
  const bool vector_form = is_vector_form(c.what),
             root_alone = is_rooted(c.what) && c.what != collective::bcast;
  return {c.what,
          ranks,
          vector_form || inter ? 0 : c.count,  // two groups may have different counts
          c.type.size,
          c.type.kind,
          c.op.which,
          !combines(c.what) || c.op.commutative,
          c.in_place && !root_alone,
          inter,
          has_agreed_counts(c.what) && !inter && c.out_counts.given()
              ? agreed_total(c.out_counts, c.type.size)
              : 0};
}

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// A schedule: what one rank does in one collective, as data. It is a list of rounds and loops over
// symbolic buffers.
//
// A round is a set of transfers that are in progress at the same time, followed by local work:
//   sends and receives      may proceed concurrently; the transfers end when all are complete
//   local steps             copy and reduce, in the order written, after the transfers
// A schedule must not write the source of a send before the round is over: the receiver may read it
// directly.
//
// Places are symbolic: a buffer, a partition of it into blocks, and a range of blocks. So a
// schedule depends on the number of ranks, the own rank, the root and the algorithm's parameters.
// It depends neither on addresses nor on counts; counts enter only through the partition of a
// place. So one schedule serves every size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::detail {

/// `input` and `output` belong to the caller. scratch0..3 belong to the executor; the schedule
/// declares or reserves their sizes. `words` belong to the executor too: 64-bit integers, initially
/// 0. They determine the block lengths of the partitions `dense`, `spaced` and `padded`. A word is
/// a block of partition::uniform.
enum class buffer : std::uint8_t { input, output, scratch0, scratch1, scratch2, scratch3, words };
inline constexpr int buffer_count = 7;
inline constexpr int scratch_count = 4;

/// The division of a buffer into blocks. All lengths are in elements of the call's type.
enum class partition : std::uint8_t {
  uniform,        ///< block i is [i*count, (i+1)*count)
  split,          ///< count elements in `parts` blocks; the first count % parts are 1 longer
  input_counts,   ///< block i: in_counts[i] elements at in_displs[i]
  output_counts,  ///< block i: out_counts[i] elements at out_displs[i]
  dense,          ///< block i: words[i] elements, without gaps, after blocks `origin` .. i-1
  spaced,         ///< block i: words[i] elements at i * words[schedule::width]
  padded,         ///< block i: words[schedule::width] elements at i * words[schedule::width]
};

/// base + outer*o + inner*i, reduced into [0, modulus) if modulus > 0. o and i are the counters of
/// the enclosing loops.
struct index {
  std::int32_t base = 0;
  std::int32_t outer = 0;
  std::int32_t inner = 0;
  std::int32_t modulus = 0;

  constexpr bool is_constant() const noexcept { return outer == 0 && inner == 0; }
};

/// `blocks` consecutive blocks of a buffer from block `first` on. In the partitions `input_counts`
/// and `output_counts` only a single block is certain to be contiguous. In the partition `spaced` a
/// place must name a single block. If `segmented` is set, the place is segment number `segment` of
/// these blocks (schedule::segment_bytes bytes each). If the segment does not exist (negative, or
/// beyond the end), both sides omit the step.
struct place {
  buffer where = buffer::input;
  partition how = partition::uniform;
  bool plain = false;  ///< uniform, whole blocks, constant index; the builder sets it
  bool segmented : 1 = false;
  bool packed : 1 = false;  ///< begins at the start of its buffer; the partition gives its length
  /// block schedule::permutation(first) instead of `first`; a single block
  bool permuted : 1 = false;
  std::int32_t blocks = 1;
  std::int32_t origin = 0;  ///< for partition::dense
  std::int32_t pieces = 0;
  index first{};
  index segment{};
};

enum class step_kind : std::uint8_t {
  send,          // source -> peer
  recv,          // peer -> target
  recv_reduce,   // target = source op received, or received op source (received_left)
  put,           // source -> block `target` of the peer's output; the peer has no matching step
  signal,        // informs the peer that all earlier puts to it are complete
  await_signal,  // waits for the peer's signal; the puts of that peer are complete then
  copy,          // target = source; if one of both is padded, the length is that of the other
  reduce,        // target = source op other
  measure,       // word target = number of elements in source, whose contents are not read
  maximum,       // word target = maximum of the words source and other
  reserve,       // resizes the scratch buffer of target to hold it; its old contents may be lost
};
constexpr bool is_local(step_kind k) noexcept { return k >= step_kind::copy; }

struct step {
  step_kind kind = step_kind::send;
  bool received_left = false;
  index peer{};
  place source{};
  place other{};
  place target{};
};

/// The trip count of a loop: `fixed`, plus a number of segments: those of a block of `count`
/// elements (`per_segment` 1), or of the longest split block (`per_segment` 2).
struct trip_count {
  std::int32_t fixed = 0;
  std::int32_t per_segment = 0;
};

enum class item_kind : std::uint8_t { round, loop, end_loop, native };

/// A round: the steps from `first` on, in the order sends, receives, local steps. For a loop: its
/// trip count.
struct item {
  item_kind kind = item_kind::round;
  std::uint32_t sends = 0, recvs = 0, locals = 0;
  std::uint32_t first = 0;  // for loop and end_loop: the item index of the matching end
  trip_count trips{};
};

/// The size of a scratch buffer: `blocks` blocks as long as the partition's longest block, and at
/// least `bytes` bytes.
struct scratch_size {
  partition how = partition::uniform;
  std::int32_t blocks = 0;
  std::size_t bytes = 0;
};

struct schedule {
  std::vector<item> items;
  std::vector<step> steps;
  scratch_size scratch[scratch_count] = {};
  std::int32_t parts = 1;  ///< for partition::split
  std::int32_t words = 0;  ///< number of words
  std::int32_t width = 0;  ///< index of the word with the distance of spaced and padded blocks
  std::int32_t ranks = 1;  ///< the second argument of `permutation`
  /// of permuted places
  std::int32_t (*permutation)(std::int32_t block, std::int32_t ranks) = nullptr;
  /// of segmented places; rounded down to whole elements, at least one
  std::size_t segment_bytes = 0;
  /// all constant peers, ascending; the executor resolves them in advance
  std::vector<std::int32_t> peers;

  std::size_t memory() const noexcept {
    return sizeof *this + items.capacity() * sizeof(item) + steps.capacity() * sizeof(step) +
           peers.capacity() * sizeof(std::int32_t);
  }
};

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// A schedule: what one rank does in one collective, as data. A list of rounds and loops over symbolic
// buffers.
//
// A round is a set of transfers that are under way together, followed by local work:
//   sends and receives      all may proceed at the same time; the round ends when all are complete
//   local steps             copy and reduce, in the order written, after the transfers
// What a send reads must not be written before its round is over (the receiver may read it in place).
//
// Places are symbolic: a buffer, a table that divides it into blocks, and a range of blocks. So a schedule
// depends on the number of ranks, the own rank, the root and the algorithm's parameters, but neither on
// addresses nor (but for the table that an algorithm picks) on counts: one schedule serves every size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti {

/// input and output are the caller's; scratch0..3 are the executor's, of the size that the schedule declares
/// or reserves. `words` are the executor's too: numbers of 64 bits that say how long the blocks of the tables
/// `held` and `spaced` are. They begin as 0; a word is a block of table::uniform.
enum class buffer : std::uint8_t { input, output, scratch0, scratch1, scratch2, scratch3, words };
inline constexpr int buffer_count = 7;
inline constexpr int scratch_count = 4;

/// How a buffer is divided into blocks. All in elements of the call's type.
enum class table : std::uint8_t {
  uniform,  ///< block i is [i*count, (i+1)*count)
  split,    ///< the call's count elements cut into `parts` nearly equal blocks, the first count % parts one
            ///< longer
  in,       ///< block i: in_counts[i] elements at in_displs[i]
  out,      ///< block i: out_counts[i] elements at out_displs[i]
  held,     ///< block i: words[i] elements, dense, after blocks `origin` .. i-1
  spaced,   ///< block i: words[i] elements at i * words[schedule::width]
  padded,   ///< block i: words[schedule::width] elements at i * words[schedule::width]
};

/// base + outer*o + inner*i, reduced into [0, modulus) where modulus > 0; o and i count the enclosing loops.
struct index {
  std::int32_t base = 0;
  std::int32_t outer = 0;
  std::int32_t inner = 0;
  std::int32_t modulus = 0;

  constexpr bool is_constant() const noexcept { return outer == 0 && inner == 0; }
};

/// `blocks` consecutive blocks from `first` of a buffer. For tables `in` and `out` only one block at a time
/// is sure to be contiguous, in table `spaced` only one block at a time may be named. With `segmented`, only
/// segment number `segment` of it (of schedule::segment_bytes bytes each); a step whose segment does not
/// exist (negative, or beyond the end) is left out on both sides.
struct place {
  buffer where = buffer::input;
  table how = table::uniform;
  bool plain = false;  ///< uniform, whole blocks, a constant index: set by the builder
  bool segmented : 1 = false;
  bool packed : 1 = false;    ///< stands at the beginning of its buffer, as long as the table says
  bool permuted : 1 = false;  ///< block schedule::permutation(first) instead of `first`; one block
  std::int32_t blocks = 1;
  std::int32_t origin = 0;  ///< of table::held
  std::int32_t pieces = 0;
  index first{};
  index segment{};
};

enum class step_kind : std::uint8_t {
  send,          // source -> peer
  recv,          // peer -> target
  recv_reduce,   // target = source op received, or received op source (received_left)
  put,           // source -> peer, at block `target` of the peer's output, without a matching step there
  signal,        // tells peer that the puts before it are complete
  await_signal,  // until peer's signal; puts of that peer are complete then
  copy,          // target = source; of a padded place and another the other's length
  reduce,        // target = source op other
  measure,       // word target = the number of elements in source, which is not read
  maximum,       // word target = the greater of words source and other
  reserve,       // target's buffer, a scratch, holds target from here on; what it held may be lost
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

/// A loop's trip count: `fixed`, plus the number of segments in a block of `count` elements (`per_segment`
/// 1), or in the longest split block (`per_segment` 2).
struct trip_count {
  std::int32_t fixed = 0;
  std::int32_t per_segment = 0;
};

enum class item_kind : std::uint8_t { round, loop, end_loop, native };

/// A round: steps [first, first+sends) send, then receives, then local. A loop: its trip count.
struct item {
  item_kind kind = item_kind::round;
  std::uint32_t sends = 0, recvs = 0, locals = 0;
  std::uint32_t first = 0;  // of a loop or end_loop: the item index of its partner
  trip_count trips{};
};

/// Scratch of `blocks` blocks of the table's largest block, and never less than `bytes` bytes.
struct scratch_size {
  table how = table::uniform;
  std::int32_t blocks = 0;
  std::size_t bytes = 0;
};

struct schedule {
  std::vector<item> items;
  std::vector<step> steps;
  scratch_size scratch[scratch_count] = {};
  std::int32_t parts = 1;  ///< of table::split
  std::int32_t words = 0;  ///< how many
  std::int32_t width = 0;  ///< which word is the distance of spaced and padded blocks
  std::int32_t ranks = 1;  ///< what `permutation` is of
  std::int32_t (*permutation)(std::int32_t block, std::int32_t ranks) = nullptr;  ///< of permuted places
  std::size_t segment_bytes = 0;    ///< of segmented places; rounded down to whole elements, at least one
  std::vector<std::int32_t> peers;  ///< every constant peer, ascending: what the executor binds

  std::size_t memory() const noexcept {
    return sizeof *this + items.capacity() * sizeof(item) + steps.capacity() * sizeof(step) +
           peers.capacity() * sizeof(std::int32_t);
  }
};

}  // namespace tutti

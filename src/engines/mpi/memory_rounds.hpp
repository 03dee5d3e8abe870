// SPDX-License-Identifier: Apache-2.0
//
// The rounds of each collective in the memory of a node. A kind is a class that answers for one
// round: whether this member posts, how many bytes a member posts, and what they are. It also says
// which members this one reads, from first() to before end(), and what it does with each post.
// take() is called in member order, and with this member's own post too.
//
// In place, a member overwrites in a round only what it has posted in this round or before.
// Otherwise it takes its own data from its input, and posts only what other members read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "engines/mpi/memory_pieces.hpp"
#include "transport/shm/process_memory.hpp"
#include "transport/shm/wait_interface.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

/// A call under way.
struct memory_progress {
  std::uint64_t number = 0;  // of the round that is under way
  std::uint64_t rounds_left = 0;
  std::uint64_t digest = 0;
  detail::call_pieces pieces;
  std::size_t at = 0;        // units that earlier rounds have moved, or this round has combined
  int next = 0;              // the first member whose post has not been taken
  bool posted = false;       // in this round, as far as this member posts
  bool second = false;       // of the two rounds of a piece in slices
  bool by_address = false;   // the rounds are those of address_steps.hpp
  bool by_messages = false;  // by address: the parts of this round come as messages
  /// The steps of negotiated_calls.hpp, which precede the rounds.
  enum class negotiation_step : std::uint8_t {
    none,          // the call has no such steps, or they are complete
    exchange,      // step 1
    finish,        // step 3
    skip_all,      // step 4
    skip_unneeded  // the same for the rounds that the faster way does not need
  };
  negotiation_step negotiation = negotiation_step::none;
  bool chosen_by_time = false;  // the exchange sets by_address (measured_times.hpp)
  int wrong_owner = -1;         // of a block with `at` bytes, where another length is expected
  double began = 0;             // the time after the exchange, in microseconds
};
// Callers keep it in memory that they do not destroy.
static_assert(std::is_trivially_destructible_v<memory_progress>);

/// For reports.
inline shm::wait_site site_of(const call& c) noexcept {
  const char* const algorithm = c.on_behalf == 0 ? "native" : "an exchange before it";
  return {detail::called(c), algorithm, "the other members", -1, -1, shm::wait_site::unnumbered};
}

/// One round as one member sees it. Its piece is `n` units, from unit `at` of the operand or of
/// each block.
struct memory_round {
  const call& c;
  int size, member;
  std::size_t unit, at, n;
  std::size_t block;  // bytes of a whole block
  bool second;        // of the two rounds of a piece in slices

  bool is_root() const noexcept { return member == c.root; }
  std::size_t bytes() const noexcept { return n * unit; }
  std::size_t offset() const noexcept { return at * unit; }
  std::size_t offset_in_block(int i) const noexcept { return static_cast<std::size_t>(i) * block + offset(); }
  std::size_t part(int i) const noexcept { return static_cast<std::size_t>(i) * bytes(); }
  /// The data of the caller. In place they are in the output.
  const std::byte* operand() const noexcept {
    return static_cast<const std::byte*>(c.in_place ? c.output : c.input);
  }
  std::byte* output() const noexcept { return static_cast<std::byte*>(c.output); }
  /// Appends an operand of `units` to the result at `to`.
  void combine(std::byte* to, const std::byte* from, std::size_t units, bool is_first) const {
    if (units == 0) return;
    if (is_first && to != from)
      shm::process_memory::read(to, from, units * unit);
    else if (!is_first)
      c.op.combine(to, from, to, units, c.op.state);
  }
};

/// The offset of block `i` of a vector form, in elements. Without displacements blocks are dense.
inline std::size_t block_offset(const counts_view& counts, const counts_view& displs, int i) noexcept {
  if (displs.given()) return displs[static_cast<std::size_t>(i)];
  std::size_t sum = 0;
  for (int k = 0; k < i; ++k) sum += counts[static_cast<std::size_t>(k)];
  return sum;
}
/// The same for a block in the output, in bytes.
inline std::size_t offset_in_output(const call& c, int i) noexcept {
  return block_offset(c.out_counts, c.out_displs, i) * c.type.size;
}

namespace rounds {

using memory = shm::process_memory;

// Each member posts its piece, and each reads all posts.
struct among_all {
  static bool posts(const memory_round&) noexcept { return true; }
  static std::size_t bytes(const memory_round& r, int) noexcept { return r.bytes(); }
  static void write(const memory_round& r, std::byte* to) {
    if (r.n > 0) memory::write(to, r.operand() + r.offset(), r.bytes());
  }
  static int first(const memory_round&) noexcept { return 0; }
  static int end(const memory_round& r) noexcept { return r.size; }
};

struct barrier : among_all {
  static void take(const memory_round&, int, const std::byte*) noexcept {}
};

struct bcast : among_all {
  static bool posts(const memory_round& r) noexcept { return r.is_root(); }
  static int first(const memory_round& r) noexcept { return r.c.root; }
  static int end(const memory_round& r) noexcept { return r.is_root() ? r.c.root : r.c.root + 1; }
  static void take(const memory_round& r, int, const std::byte* from) {
    if (r.n > 0) memory::read(r.output() + r.offset(), from, r.bytes());
  }
};

struct allreduce : among_all {
  static void take(const memory_round& r, int i, const std::byte* from) {
    const bool from_input = i == r.member && !r.c.in_place;
    r.combine(r.output() + r.offset(), from_input ? r.operand() + r.offset() : from, r.n, i == 0);
  }
};
struct reduce : allreduce {
  static bool posts(const memory_round& r) noexcept { return !r.is_root() || r.c.in_place; }
  static int end(const memory_round& r) noexcept { return r.is_root() ? r.size : 0; }
};
struct scan : allreduce {
  static bool posts(const memory_round& r) noexcept { return r.member + 1 < r.size || r.c.in_place; }
  static int end(const memory_round& r) noexcept { return r.member + 1; }
};
struct exscan : allreduce {  // member 0 has no result
  static bool posts(const memory_round& r) noexcept { return r.member + 1 < r.size; }
  static int end(const memory_round& r) noexcept { return r.member; }
};

// In the first round of a piece each member combines one slice of it. In the second one it posts
// the result.
struct allreduce_in_slices : among_all {
  static detail::unit_slice slice_of(const memory_round& r, int i) noexcept {
    return detail::slice_of(r.n, r.size, i);
  }
  static std::size_t bytes(const memory_round& r, int i) noexcept {
    return r.second ? slice_of(r, i).n * r.unit : r.bytes();
  }
  static void write(const memory_round& r, std::byte* to) {
    const detail::unit_slice mine = slice_of(r, r.member);
    const std::size_t at = mine.at * r.unit, bytes = mine.n * r.unit;
    if (r.second) return memory::write(to, r.output() + r.offset() + at, bytes);
    if (r.c.in_place) return among_all::write(r, to);
    const std::byte* const from = r.operand() + r.offset();
    const std::size_t end = at + bytes;  // no other member reads this member's own slice
    if (at > 0) memory::write(to, from, at);
    if (end < r.bytes()) memory::write(to + end, from + end, r.bytes() - end);
  }
  static void take(const memory_round& r, int i, const std::byte* from) {
    if (r.second && i == r.member) return;
    const detail::unit_slice s = slice_of(r, r.second ? i : r.member);
    const std::size_t at = s.at * r.unit;
    std::byte* const to = r.output() + r.offset() + at;
    if (r.second) return memory::read(to, from, s.n * r.unit);
    const bool from_input = i == r.member && !r.c.in_place;
    r.combine(to, (from_input ? r.operand() + r.offset() : from) + at, s.n, i == 0);
  }
};

// The root posts nothing. Its own block goes from its input to its output.
struct gather : among_all {
  static bool posts(const memory_round& r) noexcept { return !r.is_root(); }
  static int end(const memory_round& r) noexcept { return r.is_root() ? r.size : 0; }
  static void take(const memory_round& r, int i, const std::byte* from) {
    const bool mine = i == r.member;
    if (r.n == 0 || (mine && r.c.in_place)) return;
    memory::read(r.output() + r.offset_in_block(i), mine ? r.operand() + r.offset() : from, r.bytes());
  }
};

struct allgather : among_all {
  static void write(const memory_round& r, std::byte* to) {
    const std::size_t at = r.c.in_place ? r.offset_in_block(r.member) : r.offset();
    if (r.n > 0) memory::write(to, r.operand() + at, r.bytes());
  }
  static void take(const memory_round& r, int i, const std::byte* from) {
    if (r.n == 0 || (i == r.member && r.c.in_place)) return;
    memory::read(r.output() + r.offset_in_block(i), from, r.bytes());
  }
};

// The piece of a short block is shorter than those of others, or empty.
struct allgatherv : among_all {
  static std::size_t bytes(const memory_round& r, int i) noexcept {
    const std::size_t all = r.c.out_counts[static_cast<std::size_t>(i)] * r.c.type.size;
    return all <= r.at ? 0 : std::min(r.n, all - r.at);
  }
  static std::size_t offset_of(const memory_round& r, int i) noexcept {
    return offset_in_output(r.c, i) + r.at;
  }
  static void write(const memory_round& r, std::byte* to) {
    const std::size_t mine = bytes(r, r.member);
    if (mine > 0) memory::write(to, r.operand() + (r.c.in_place ? offset_of(r, r.member) : r.at), mine);
  }
  static void take(const memory_round& r, int i, const std::byte* from) {
    const std::size_t all = bytes(r, i);
    if (all == 0 || (i == r.member && r.c.in_place)) return;
    memory::read(r.output() + offset_of(r, i), from, all);
  }
};

// A member posts one piece for each other member.
struct blocks_for_all : among_all {
  static std::size_t bytes(const memory_round& r, int) noexcept { return r.part(r.size); }
  static void write_from(const memory_round& r, const std::byte* blocks, std::byte* to) {
    for (int i = 0; r.n > 0 && i < r.size; ++i)
      if (i != r.member) memory::write(to + r.part(i), blocks + r.offset_in_block(i), r.bytes());
  }
  static void write(const memory_round& r, std::byte* to) { write_from(r, r.operand(), to); }
};

// In place, the root's own block is not written, and the blocks are still in its input.
struct scatter : blocks_for_all {
  static bool posts(const memory_round& r) noexcept { return r.is_root(); }
  static void write(const memory_round& r, std::byte* to) {
    write_from(r, static_cast<const std::byte*>(r.c.input), to);
  }
  static int first(const memory_round& r) noexcept { return r.c.root; }
  static int end(const memory_round& r) noexcept { return r.c.root + 1; }
  static void take(const memory_round& r, int, const std::byte* from) {
    if (r.n == 0 || (r.is_root() && r.c.in_place)) return;
    const std::byte* const own = static_cast<const std::byte*>(r.c.input);
    memory::read(r.output() + r.offset(),
                 r.is_root() ? own + r.offset_in_block(r.member) : from + r.part(r.member), r.bytes());
  }
};

struct alltoall : blocks_for_all {
  static void take(const memory_round& r, int i, const std::byte* from) {
    const bool mine = i == r.member;
    if (r.n == 0 || (mine && r.c.in_place)) return;
    memory::read(r.output() + r.offset_in_block(i),
                 mine ? r.operand() + r.offset_in_block(i) : from + r.part(r.member), r.bytes());
  }
};

// In place the result goes to block 0, which is posted, or is the operand of member 0.
struct reduce_scatter_block : blocks_for_all {
  static void take(const memory_round& r, int i, const std::byte* from) {
    const bool mine = i == r.member;
    r.combine(r.output() + r.offset(),
              mine ? r.operand() + r.offset_in_block(r.member) : from + r.part(r.member), r.n, i == 0);
  }
};

}  // namespace rounds

/// Calls `f` with an object of the class of a kind.
template <class F>
bool with_rounds_of(collective what, bool in_slices, F&& f) {
  switch (what) {
    case collective::bcast:
      return f(rounds::bcast());
    case collective::reduce:
      return f(rounds::reduce());
    case collective::allreduce:
      return in_slices ? f(rounds::allreduce_in_slices()) : f(rounds::allreduce());
    case collective::gather:
      return f(rounds::gather());
    case collective::scatter:
      return f(rounds::scatter());
    case collective::allgather:
      return f(rounds::allgather());
    case collective::allgatherv:
      return f(rounds::allgatherv());
    case collective::alltoall:
      return f(rounds::alltoall());
    case collective::reduce_scatter_block:
      return f(rounds::reduce_scatter_block());
    case collective::scan:
      return f(rounds::scan());
    case collective::exscan:
      return f(rounds::exscan());
    default:
      return f(rounds::barrier());
  }
}

}  // namespace tutti::mpi

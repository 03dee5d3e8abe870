// SPDX-License-Identifier: Apache-2.0
//
// Long collectives by address. Other libraries call this single copy, or CMA. A member that has
// data for others, an owner, posts the address of its buffer. The readers copy what they need with
// process_vm_readv. So a call has one round, an allreduce has two, and each byte is copied once. A
// kind is a class that answers for one round: who reads from whom, what an owner shares, which part
// of it a reader gets, and where it goes.
//
// An owner must not return before its readers have finished the round. A kind is correct if no
// member writes to what it shares before that. An allreduce in place writes slice i of the operand
// of member i, which member i alone reads in the first round. In the second round other slices are
// written when their results have been posted, so that nobody reads them any more.
#pragma once

#include <cstddef>

#include "engines/mpi/memory_pieces.hpp"
#include "engines/mpi/memory_rounds.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

/// One round as one member sees it.
struct address_round {
  const call& c;
  int size, member;
  std::size_t unit, length;  // units of the operand, or of each block
  bool second;               // of the two rounds of an allreduce

  bool is_root() const noexcept { return member == c.root; }
  std::size_t bytes() const noexcept { return length * unit; }
  std::size_t block(int i) const noexcept { return static_cast<std::size_t>(i) * bytes(); }
  const std::byte* operand() const noexcept {
    return static_cast<const std::byte*>(c.in_place ? c.output : c.input);
  }
  std::byte* output() const noexcept { return static_cast<std::byte*>(c.output); }
};

/// Bytes from the address that the owner shares.
struct address_part {
  std::size_t offset, bytes;
};

namespace by_address {

/// The defaults of a kind.
struct among_all {
  static constexpr int rounds = 1;
  static bool reads(const address_round&, int reader, int owner) noexcept { return reader != owner; }
  /// The address that this member posts, if it is an owner.
  static const std::byte* shared(const address_round& r) noexcept { return r.operand(); }
  static address_part part(const address_round& r, int /*reader*/, int /*owner*/) noexcept {
    return {0, r.bytes()};
  }
  /// Where this member puts its part of an owner, or the combination of all.
  static std::byte* target(const address_round& r, int /*owner*/) noexcept { return r.output(); }
  /// Whether this member combines the parts of all members, in member order.
  static bool combines(const address_round&) noexcept { return false; }
  /// The part of this member for itself. Null: none, or it is in its place.
  static const std::byte* own_part(const address_round&) noexcept { return nullptr; }
};
struct from_root : among_all {
  static bool reads(const address_round& r, int reader, int owner) noexcept {
    return owner == r.c.root && reader != owner;
  }
};

struct bcast : from_root {};

struct scatter : from_root {
  static const std::byte* shared(const address_round& r) noexcept {
    return static_cast<const std::byte*>(r.c.input);
  }
  static address_part part(const address_round& r, int reader, int) noexcept {
    return {r.block(reader), r.bytes()};
  }
  static const std::byte* own_part(const address_round& r) noexcept {
    return r.is_root() && !r.c.in_place ? shared(r) + r.block(r.member) : nullptr;
  }
};

struct allgather : among_all {
  static const std::byte* shared(const address_round& r) noexcept {
    return r.operand() + (r.c.in_place ? r.block(r.member) : 0);
  }
  static std::byte* target(const address_round& r, int owner) noexcept { return r.output() + r.block(owner); }
  static const std::byte* own_part(const address_round& r) noexcept {
    return r.c.in_place ? nullptr : r.operand();
  }
};

struct allgatherv : among_all {
  static const std::byte* shared(const address_round& r) noexcept {
    return r.c.in_place ? target(r, r.member) : r.operand();
  }
  static address_part part(const address_round& r, int, int owner) noexcept {
    return {0, r.c.out_counts[static_cast<std::size_t>(owner)] * r.c.type.size};
  }
  static std::byte* target(const address_round& r, int owner) noexcept {
    return r.output() + offset_in_output(r.c, owner);
  }
  static const std::byte* own_part(const address_round& r) noexcept {
    return r.c.in_place ? nullptr : r.operand();
  }
};

struct alltoall : among_all {
  static address_part part(const address_round& r, int reader, int) noexcept {
    return {r.block(reader), r.bytes()};
  }
  static std::byte* target(const address_round& r, int owner) noexcept { return r.output() + r.block(owner); }
  static const std::byte* own_part(const address_round& r) noexcept {
    return r.operand() + r.block(r.member);
  }
};

struct reduce_scatter_block : among_all {
  static address_part part(const address_round& r, int reader, int) noexcept {
    return {r.block(reader), r.bytes()};
  }
  static bool combines(const address_round&) noexcept { return true; }
  static const std::byte* own_part(const address_round& r) noexcept {
    return r.operand() + r.block(r.member);
  }
};

// Of two members: the operand of the first is the result of the second.
struct exscan : among_all {
  static bool reads(const address_round&, int reader, int owner) noexcept {
    return owner == 0 && reader == 1;
  }
};

// In the first round each member combines one slice. In the second one it shares the result.
struct allreduce : among_all {
  static constexpr int rounds = 2;
  static const std::byte* shared(const address_round& r) noexcept {
    return r.second ? r.output() : r.operand();
  }
  static address_part part(const address_round& r, int reader, int owner) noexcept {
    const detail::unit_slice s = detail::slice_of(r.length, r.size, r.second ? owner : reader);
    return {s.at * r.unit, s.n * r.unit};
  }
  static std::byte* target(const address_round& r, int owner) noexcept {
    return r.output() + part(r, r.member, owner).offset;
  }
  static bool combines(const address_round& r) noexcept { return !r.second; }
  static const std::byte* own_part(const address_round& r) noexcept {
    return r.second ? nullptr : r.operand() + part(r, r.member, r.member).offset;
  }
};

}  // namespace by_address

/// Calls `f` with an object of the class of a kind that may go by address (memory_pieces.hpp).
template <class F>
decltype(auto) with_kind_by_address(collective what, F&& f) {
  switch (what) {
    case collective::allreduce:
      return f(by_address::allreduce());
    case collective::scatter:
      return f(by_address::scatter());
    case collective::allgather:
      return f(by_address::allgather());
    case collective::allgatherv:
      return f(by_address::allgatherv());
    case collective::alltoall:
      return f(by_address::alltoall());
    case collective::reduce_scatter_block:
      return f(by_address::reduce_scatter_block());
    case collective::exscan:
      return f(by_address::exscan());
    default:
      return f(by_address::bcast());
  }
}

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
//
// The steps of the calls by address (memory_by_address.hpp) of a communicator in the memory of a
// node. A round: this member posts its address if it is an owner, takes its parts, and says so.
// After the last round it waits until its readers have finished it, whatever earlier calls they
// have under way.
//
// The kernel may refuse a read that it has permitted at the set-up. Then the reader asks its owners
// for messages from now on, and takes the part of each owner from a message. An owner serves such
// readers from its post until the end of the call.
//
// The environment E gives the access to memory, the reads from other processes, and the messages.
// address_calls.hpp has that of the engine. tests/unit/shm_model runs the same steps on modelled
// memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>

#include "engines/mpi/memory_by_address.hpp"
#include "engines/mpi/memory_rounds.hpp"
#include "engines/mpi/part_messages.hpp"
#include "transport/shm/process_memory.hpp"
#include "transport/shm/wait_interface.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

/// E has the types memory, collectives (shm::node_collectives) and endpoint (of part_messages), the
/// constant combined_piece_bytes, and read(rank, to, address, bytes), which reports a refusal.
template <class E>
class address_steps {
 public:
  using memory = typename E::memory;
  using collectives = typename E::collectives;
  /// `on_mismatch(mine, i, other)`: the digests of this member and of member i differ. It throws.
  using mismatch = std::function<void(std::uint64_t, int, std::uint64_t)>;

  /// `group`: see part_messages.
  address_steps(const E& environment, collectives& of, typename E::endpoint& ep, std::uint64_t group,
                mismatch on_mismatch)
      : environment_(environment), of_(of), on_mismatch_(std::move(on_mismatch)), messages_(ep, group) {}

  /// Continues as far as possible without a wait. Returns whether the call is complete.
  bool advance(const call& c, memory_progress& p, bool overlaps) {
    return with_kind_by_address(c.what, [&]<class Kind>(Kind) { return advance_call<Kind>(c, p, overlaps); });
  }

 private:
  enum class taken { yes, not_yet, refused };

  template <class Kind>
  bool advance_call(const call& c, memory_progress& p, bool overlaps);
  template <class Kind>
  bool post(const address_round& r, memory_progress& p, bool overlaps);
  template <class Kind>
  bool take(const address_round& r, memory_progress& p);
  template <class Kind>
  taken copy_parts(const address_round& r, memory_progress& p);
  template <class Kind>
  taken combine_parts(const address_round& r, memory_progress& p);
  template <class Kind>
  bool receive_and_copy(const address_round& r, memory_progress& p);
  template <class Kind>
  bool receive_and_combine(const address_round& r, memory_progress& p);
  template <class Kind>
  void copy_own(const address_round& r) const;
  template <class Kind>
  void send_parts(const address_round& r, std::uint64_t n);
  template <class Kind>
  void send_parts_of_rounds(address_round r, std::uint64_t first, std::uint64_t end);
  template <class Kind>
  bool readers_have_finished(const address_round& r, memory_progress& p, std::uint64_t first);
  bool has_posted(const memory_progress& p, int i);
  taken read(const memory_progress& p, int i, std::byte* to, std::size_t offset, std::size_t bytes);

  E environment_;
  collectives& of_;
  mismatch on_mismatch_;
  part_messages<typename E::endpoint> messages_;
  aligned_bytes scratch_;
  std::size_t scratch_bytes_ = 0;
};

template <class E>
template <class Kind>
bool address_steps<E>::advance_call(const call& c, memory_progress& p, bool overlaps) {
  address_round r{c, of_.size(), of_.member(), p.pieces.unit, p.pieces.length, false};
  while (p.rounds_left > 0) {
    r.second = p.rounds_left < Kind::rounds;
    if (!post<Kind>(r, p, overlaps)) return false;
    send_parts_of_rounds<Kind>(r, p.number - (r.second ? 1 : 0), p.number + 1);
    if (!take<Kind>(r, p)) return false;
    of_.finish_by_address(p.number);
    messages_.end(p.number);
    ++p.number;
    --p.rounds_left;
    p.next = 0;
    p.at = 0;
    p.posted = p.by_messages = false;
  }
  return readers_have_finished<Kind>(r, p, p.number - Kind::rounds);
}

template <class E>
template <class Kind>
bool address_steps<E>::post(const address_round& r, memory_progress& p, bool overlaps) {
  if (p.posted) return true;
  bool has_readers = false;
  for (int i = 0; i < r.size && !has_readers; ++i) has_readers = Kind::reads(r, i, r.member);
  if (has_readers) {
    const auto address = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(Kind::shared(r)));
    if (!of_.may_post(p.number, sizeof address)) return false;
    memory::write(of_.operand(p.number, sizeof address), &address, sizeof address);
    of_.post(p.number, p.digest);
  }
  if (overlaps) of_.wake_members();
  p.posted = true;
  return true;
}

template <class E>
bool address_steps<E>::has_posted(const memory_progress& p, int i) {
  if (!of_.has_posted(p.number, i)) return false;
  if (const std::uint64_t other = of_.digest_of(p.number, i); other != p.digest) [[unlikely]]
    on_mismatch_(p.digest, i, other);
  return true;
}

// A process that has ended is a reason to wait. The wait finds the loss.
template <class E>
typename address_steps<E>::taken address_steps<E>::read(const memory_progress& p, int i, std::byte* to,
                                                        std::size_t offset, std::size_t bytes) {
  std::uint64_t address = 0;
  memory::read(&address, of_.operand_of(p.number, i, sizeof address), sizeof address);
  switch (environment_.read(of_.rank_of(i), to, address + offset, bytes)) {
    case shm::remote_read::complete:
      return taken::yes;
    case shm::remote_read::gone:
      return taken::not_yet;
    default:
      return taken::refused;
  }
}

template <class E>
template <class Kind>
bool address_steps<E>::take(const address_round& r, memory_progress& p) {
  const bool combines = Kind::combines(r);
  if (!of_.has_requested_messages(p.number, r.member)) [[likely]] {
    const taken now = combines ? combine_parts<Kind>(r, p) : copy_parts<Kind>(r, p);
    if (now != taken::refused) return now == taken::yes;
    of_.request_messages();
  }
  // Another call may have been refused. All owners of this round send messages, also those whose
  // parts have been read.
  if (!std::exchange(p.by_messages, true)) p.next = 0;
  return combines ? receive_and_combine<Kind>(r, p) : receive_and_copy<Kind>(r, p);
}

template <class E>
template <class Kind>
void address_steps<E>::copy_own(const address_round& r) const {
  if (const std::byte* const from = Kind::own_part(r); from != nullptr)
    memory::read(Kind::target(r, r.member), from, Kind::part(r, r.member, r.member).bytes);
}

// The members begin with different owners, so that not all of them read from the same memory. A
// member copies its own part last. In an allgather others read the same operand, and two processors
// slow each other down if both read lines that one of them has just written.
template <class E>
template <class Kind>
typename address_steps<E>::taken address_steps<E>::copy_parts(const address_round& r, memory_progress& p) {
  for (; p.next < r.size; ++p.next) {
    const int i = (r.member + 1 + p.next) % r.size;
    if (i == r.member) copy_own<Kind>(r);
    if (!Kind::reads(r, r.member, i)) continue;
    if (!has_posted(p, i)) return taken::not_yet;
    const address_part part = Kind::part(r, r.member, i);
    if (part.bytes == 0) continue;
    const taken now = read(p, i, Kind::target(r, i), part.offset, part.bytes);
    if (now != taken::yes) return now;
  }
  return taken::yes;
}

// In place, the output keeps the operand of this member until the result of the piece is known.
template <class E>
template <class Kind>
typename address_steps<E>::taken address_steps<E>::combine_parts(const address_round& r, memory_progress& p) {
  for (; p.next < r.size; ++p.next)
    if (p.next != r.member && !has_posted(p, p.next)) return taken::not_yet;
  const address_part part = Kind::part(r, r.member, r.member);
  const std::size_t all = part.bytes / r.unit;
  const std::size_t piece = std::max<std::size_t>(1, E::combined_piece_bytes / r.unit);
  if (scratch_bytes_ < 2 * piece * r.unit) {
    scratch_bytes_ = 2 * piece * r.unit;
    scratch_ = allocate_aligned(scratch_bytes_);
  }
  std::byte* const operand = scratch_.get();
  for (; p.at < all; p.at += std::min(piece, all - p.at)) {
    const std::size_t n = std::min(piece, all - p.at), bytes = n * r.unit, offset = p.at * r.unit;
    std::byte* const to = Kind::target(r, r.member) + offset;
    std::byte* const result = r.c.in_place ? operand + piece * r.unit : to;
    for (int i = 0; i < r.size; ++i) {
      const std::byte* from = Kind::own_part(r) + offset;
      if (i != r.member) {
        std::byte* const into = i == 0 ? result : operand;
        const taken now = read(p, i, into, part.offset + offset, bytes);
        if (now != taken::yes) return now;
        from = into;
      }
      if (i > 0)
        r.c.op.combine(result, from, result, n, r.c.op.state);
      else if (from != result)
        memory::read(result, from, bytes);
    }
    if (result != to) memory::read(to, result, bytes);
  }
  return taken::yes;
}

template <class E>
template <class Kind>
bool address_steps<E>::receive_and_copy(const address_round& r, memory_progress& p) {
  for (; p.next < r.size; ++p.next) {
    const int i = (r.member + 1 + p.next) % r.size;
    if (i == r.member) copy_own<Kind>(r);
    if (!Kind::reads(r, r.member, i)) continue;
    if (!has_posted(p, i)) return false;
    const std::size_t bytes = Kind::part(r, r.member, i).bytes;
    if (bytes == 0) continue;
    if (!messages_.receive(p.number, of_.rank_of(i), Kind::target(r, i), bytes, site_of(r.c))) return false;
  }
  return true;
}

// Messages have whole parts. The units before p.at were combined before the refusal.
template <class E>
template <class Kind>
bool address_steps<E>::receive_and_combine(const address_round& r, memory_progress& p) {
  const std::size_t all = Kind::part(r, r.member, r.member).bytes, offset = p.at * r.unit,
                    bytes = all - offset;
  if (bytes == 0 && offset == 0) return true;
  std::byte* const to = Kind::target(r, r.member) + offset;
  std::byte* const result = r.c.in_place ? messages_.result(p.number, bytes) : to;
  for (; p.next < r.size; ++p.next) {
    const std::byte* from = Kind::own_part(r) + offset;
    if (p.next != r.member) {
      if (!has_posted(p, p.next)) return false;
      std::byte* const operand = messages_.operand(p.number, all);
      if (!messages_.receive(p.number, of_.rank_of(p.next), operand, all, site_of(r.c))) return false;
      from = operand + offset;
    }
    if (p.next > 0)
      r.c.op.combine(result, from, result, bytes / r.unit, r.c.op.state);
    else
      memory::read(result, from, bytes);
  }
  if (result != to) memory::read(to, result, bytes);
  return true;
}

template <class E>
template <class Kind>
void address_steps<E>::send_parts(const address_round& r, std::uint64_t n) {
  for (int i = 0; i < r.size; ++i) {
    if (!Kind::reads(r, i, r.member) || !of_.has_requested_messages(n, i)) [[likely]]
      continue;
    const address_part part = Kind::part(r, i, r.member);
    if (part.bytes > 0) messages_.send_once(n, of_.rank_of(i), Kind::shared(r) + part.offset, part.bytes);
  }
}

// A member may still need its part of the first round of an allreduce while this one is in the
// second round.
template <class E>
template <class Kind>
void address_steps<E>::send_parts_of_rounds(address_round r, std::uint64_t first, std::uint64_t end) {
  for (std::uint64_t n = first; n != end; ++n) {
    r.second = n != first;
    send_parts<Kind>(r, n);
  }
  messages_.progress();
}

// A reader that has finished its last round has finished the first one too.
template <class E>
template <class Kind>
bool address_steps<E>::readers_have_finished(const address_round& r, memory_progress& p,
                                             std::uint64_t first) {
  const std::uint64_t end = p.number;
  send_parts_of_rounds<Kind>(r, first, end);
  for (; p.next < r.size; ++p.next)
    if (Kind::reads(r, p.next, r.member) && !of_.has_finished(end - 1, p.next)) return false;
  return messages_.all_sent(first, end - 1, site_of(r.c));
}

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
//
// Point to point without C++ types: what the face hands down to the library for a message from one rank to
// another, and what comes back. The counterpart of call.hpp and port.hpp, which are for collectives.
//
// Messages of one sender on one communicator that a receive could take are taken in the order in which they
// were sent; receives that could take one message get it in the order in which they were begun. Mail never
// meets the messages of collectives, nor those of another communicator.
//
// ```cpp
// int x = 5, y = 0;
// detail::letter out{.operation = "isend", .destination = world.rank(), .data = &x, .bytes = sizeof x};
// auto under_way = detail::start_send(world.native(), out);
// detail::reception in{.operation = "recv", .source = rank::any, .tag = tags::any,
//                      .into = &y, .most = sizeof y};
// detail::envelope came = detail::receive(world.native(), in);
// under_way->wait();
// assert(y == 5 && came.source == world.rank() && came.bytes == sizeof x);
// ```
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/core/port.hpp"

namespace tutti {

/// Ranks that are none. Far from the valid ones, so that arithmetic on ranks does not meet them.
namespace rank {
inline constexpr int any = -0x7fffff01;   ///< as source: from whoever sends
inline constexpr int null = -0x7fffff02;  ///< as source or destination: nobody; nothing is sent or received
}  // namespace rank

namespace tags {
inline constexpr int any = -0x7fffff01;  ///< to receive: whatever the tag
}  // namespace tags

/// When a send is complete, so that its buffer may be changed.
enum class send_modes : std::uint8_t {
  standard,     ///< as soon as the library or the receiver has the data: may wait for the receive
  buffered,     ///< at once: the library copies what it cannot pass on
  synchronous,  ///< not before the receive has begun
  ready         ///< as standard; the program vouches that the receive was begun
};

namespace detail {

/// What is known of a message without its contents. Of a message to rank::null, or from it: source
/// rank::null, tag tags::any, no bytes.
struct envelope {
  int source = rank::null;
  int tag = tags::any;
  std::size_t bytes = 0;
};

/// A message to be sent. Throws usage_error, before anything is sent, where destination is no rank
/// (parameter "destination") or the tag out of range ("tag"): 0 to what the engine has room for, 32767 at
/// least.
struct letter {
  const char* operation = "send";  ///< for reports; a literal
  int destination = 0, tag = 0;
  send_modes mode = send_modes::standard;
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// A letter that was found by look() and taken out of the reach of every other receive; see take().
class held_letter;

/// A message to be received.
///
/// Of rank::null nobody's message is received at once; `room` is asked for no bytes then.
///
/// Where it goes is `into`, which has room for `most` bytes: a longer message is consumed, none of it is
/// written, and truncation_error (parameter "recv_count") is thrown. Or, where `room` is set, it is asked for
/// the place once the length is known, and may throw: then the message stays, and can be received again. A
/// message that is not a whole number of `element` bytes is a mismatch_error, and stays.
struct reception {
  const char* operation = "recv";
  int source = rank::any, tag = tags::any;
  std::size_t element = 1;
  void* into = nullptr;
  std::size_t most = 0;
  void* (*room)(void* state, const envelope& what) = nullptr;
  void* state = nullptr;
  held_letter* letter = nullptr;  ///< this one and no other; used up where the receive succeeds or truncates
};

/// Returns when the letter is sent, as its mode says. Waits serve everything else that is under way on this
/// rank. Throws peer_error, deadlock_error.
void send(core&, const letter&);

/// The same, not waiting. `data` must stay until complete. All nonblocking mail, of all communicators of this
/// rank, moves on in every blocking call, test() and wait() of this rank.
pending_call start_send(core&, const letter&);
pending_call prepare_send(core&, const letter&);

/// Throws the usage_error that a receive of this source and tag would, and does nothing else.
void check_reception(core&, const reception&);

/// Returns when the message is received. Throws as start_send(), and as said at reception.
envelope receive(core&, const reception&);

/// The same, not waiting; `into`, or `state`, must stay until complete. What it found is asked of the pending
/// call by found(). What it was refused for is thrown by its own wait() or test(), whichever call met the
/// message.
///
/// It progresses in every blocking call, test() and wait() of this rank: of any request, communicator and
/// front end, on every engine, also while the rank waits in a collective of MPI's own. A sender that waits
/// for the receive (with more than 1 KiB, or synchronous) waits until this rank makes such a call.
///
/// A message that the receive refuses stays, and another receive may take it. One that is longer than its
/// place is used up. Where the program's own calls of MPI share the communicator, MPI is given receives without
/// `room`: such a one uses its message up also where that is no whole number of elements, and Open MPI 4.1
/// writes a longer one beyond its place.
pending_call start_receive(core&, const reception&);
pending_call prepare_receive(core&, const reception&);

/// What a complete receive has found; an envelope of nobody for everything else.
envelope found(const pending&) noexcept;

/// Whether a message has come that a receive of this source and tag would take; with `wait`, not before there
/// is one. It stays. Of rank::null there always is one, that of nobody.
bool look(core&, const char* operation, int source, int tag, bool wait, envelope& found);

/// The same; the message is taken out, and can only be received by a reception that names it. Null: none has
/// come, or the source is rank::null. Whoever has it receives it or puts it back, to where it stood among the
/// others; both before the core goes.
held_letter* take(core&, const char* operation, int source, int tag, bool wait, envelope& found);
void put_back(core&, held_letter*) noexcept;

}  // namespace detail
}  // namespace tutti

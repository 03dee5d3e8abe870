// SPDX-License-Identifier: Apache-2.0
//
// Point-to-point messages without C++ types: the interface between the C++ API and the library for
// a message from one rank to another. tutti/call.hpp and abi.hpp are its counterpart for
// collectives.
//
// A receive takes matching messages of one sender on one communicator in the order in which they
// were sent. Receives that match one message get it in the order in which they were begun.
// Point-to-point messages never match messages of collectives or of another communicator.
//
// ```cpp
// int x = 5, y = 0;
// detail::send_args out{.operation = "isend", .destination = world.rank(),
//                       .data = &x, .bytes = sizeof x};
// auto pending = detail::start_send(detail::impl_of(world), out);
// detail::recv_args in{.operation = "recv", .source = rank::any, .tag = tags::any,
//                      .into = &y, .capacity = sizeof y};
// detail::envelope received = detail::receive(detail::impl_of(world), in);
// pending->wait();
// assert(y == 5 && received.source == world.rank() && received.bytes == sizeof x);
// ```
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/detail/abi.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// Special values in place of a rank. They are far from valid ranks, so that rank arithmetic does
/// not produce them.
namespace rank {
inline constexpr int any = -0x7fffff01;   ///< as source: any sender
inline constexpr int null = -0x7fffff02;  ///< as source or destination: nothing is transferred
}  // namespace rank

namespace tags {
inline constexpr int any = -0x7fffff01;  ///< to receive: any tag
}  // namespace tags

/// When a send is complete, so that the program may change its buffer.
enum class send_modes : std::uint8_t {
  standard,     ///< once the library or receiver has the data; may wait for the receive
  buffered,     ///< at once: the library copies what it cannot pass on
  synchronous,  ///< not before the receive has begun
  ready         ///< like standard; the program asserts that the receive was begun
};

namespace detail {

/// The source, tag and length of a message. For rank::null the source is rank::null, the tag
/// tags::any, and the length 0 bytes.
struct envelope {
  int source = rank::null;
  int tag = tags::any;
  std::size_t bytes = 0;
};

/// A message to be sent. Throws usage_error before anything is sent if the destination is not a
/// rank (parameter "destination") or the tag is out of range ("tag"). Tags range from 0 to the
/// limit of the engine, which is at least 32767.
struct send_args {
  const char* operation = "send";  ///< for reports; a literal
  int destination = 0, tag = 0;
  send_modes mode = send_modes::standard;
  const void* data = nullptr;
  std::size_t bytes = 0;
};

/// A message that mprobe() found. No receive can match it, unless it names the message.
class matched_message;

/// A message to be received. A receive from rank::null completes at once with an empty message;
/// `allocate` is then called for 0 bytes.
///
/// The message goes to `into`, which has `capacity` bytes. A longer message is consumed without
/// being written, and truncation_error (parameter "recv_count") is thrown. A message that is not a
/// whole number of `element` bytes throws mismatch_error, and stays.
///
/// If `allocate` is set, it is called for the memory once the length is known, and a `capacity` of
/// 0 means any length. It may throw. After a tutti::error the message stays and can be received
/// again. After any other exception (of a container) it is consumed, so that no sender waits.
struct recv_args {
  const char* operation = "recv";
  int source = rank::any, tag = tags::any;
  std::size_t element = 1;
  void* into = nullptr;
  std::size_t capacity = 0;
  void* (*allocate)(void* state, const envelope& what) = nullptr;
  void* state = nullptr;
  /// Receives only this message. It is consumed if the receive succeeds or truncates, or if
  /// `allocate` throws another exception than a tutti::error.
  matched_message* matched = nullptr;
};

/// Returns when the message is sent, as its mode requires. Waits progress all other unfinished
/// operations of this rank. Throws peer_error, deadlock_error.
void send(communicator_impl&, const send_args&);

/// The same without waiting. `data` must live until the send is complete. Every blocking call,
/// test() and wait() of this rank progresses all nonblocking messages of all its communicators.
pending_call start_send(communicator_impl&, const send_args&);
pending_call prepare_send(communicator_impl&, const send_args&);

/// Throws the usage_error that a receive of this source and tag would throw, and does nothing else.
void validate_recv(communicator_impl&, const recv_args&);

/// Returns when the message is received. Throws the errors of start_send() and of receiving.
envelope receive(communicator_impl&, const recv_args&);
/// The same for a call that has sent a message: leaves the rejections of other ranks to the next
/// call.
envelope receive_after_send(communicator_impl&, const recv_args&);

/// The same without waiting; `into` or `state` must live until it is complete. found() returns the
/// envelope. If the receive rejects its message, its own wait() or test() throws, whichever call
/// met the message.
///
/// It progresses in every blocking call, test() and wait() of this rank: of any request,
/// communicator and front end. This holds on every engine, even while the rank waits in a
/// collective of MPI. A sender that waits for the receive (with more than 1 KiB, or synchronous)
/// waits until this rank makes such a call. On one node of an MPI job, so does a sender with many
/// messages that this rank has not taken from memory yet.
///
/// A message that the receive rejects stays, and another receive may match it. A message longer
/// than its buffer, or whose container throws, is consumed. If the program's own MPI calls share
/// the communicator, receives without `allocate` are given to MPI. Such a receive also consumes a
/// message that is not a whole number of elements. Open MPI 4.1 writes a longer message beyond its
/// buffer.
pending_call start_receive(communicator_impl&, const recv_args&);
pending_call prepare_receive(communicator_impl&, const recv_args&);

/// The envelope of a complete receive; an empty envelope for all other operations.
envelope found(const pending&) noexcept;

/// Whether a message has arrived that a receive of this source and tag would match; with `wait` it
/// waits for one. The message stays. For rank::null there always is an empty one.
bool probe(communicator_impl&, const char* operation, int source, int tag, bool wait, envelope& found);

/// The same, but removes the message; only a receive that names it can match it. Returns null
/// if none has arrived or the source is rank::null. The holder must receive it or put it back to
/// its place among the others, both before the communicator is destroyed.
matched_message* mprobe(communicator_impl&, const char* operation, int source, int tag, bool wait,
                        envelope& found);
void put_back(communicator_impl&, matched_message*) noexcept;

}  // namespace detail
}  // namespace tutti
TUTTI_API_END

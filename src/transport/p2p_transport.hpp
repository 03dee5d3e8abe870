// SPDX-License-Identifier: Apache-2.0
//
// What an engine is to the program's own messages, on one communicator: it takes letters, brings what has
// come in its order, and moves contents. Which receive gets which message is decided above it
// (src/communicator/p2p), by one code for all engines.
#pragma once

#include "transport/shm/unexpected_message.hpp"
#include "transport/shm/wait_interface.hpp"
#include "transport/transfer.hpp"
#include "tutti/detail/p2p_abi.hpp"

namespace tutti {

/// One rank's. Peers are ranks of the communicator. Calls that take a `transfer` need it until it is
/// complete, with what it sends or receives.
class p2p_transport {
 public:
  virtual ~p2p_transport() = default;
  virtual int max_tag() const noexcept { return 0x7fffffff; }

  // --- sending. Of one sender to one receiver letters arrive in the order in which they were posted.
  /// True where the letter is sent, as its mode says; else sent() will say so.
  virtual bool post(const detail::send_args& what, transfer& t) = 0;
  /// True once it is sent, and then not to be asked again.
  virtual bool sent(transfer& t, const shm::wait_site& site) = 0;
  /// Returns when it is.
  virtual void wait_until_sent(transfer& t, const shm::wait_site& site) = 0;

  // --- receiving
  /// The next that has come; it stays the carrier's, until it is opened or dropped. Null: none.
  /// `operation`: who asks, for errors.
  virtual shm::unexpected_message* next(const char* operation) = 0;
  /// Returns when one may have come; it may also return early.
  virtual void wait_for_next(const shm::wait_site& site) = 0;
  /// Moves the contents to a place that has room for them; the parcel is used up. False: opened() will say
  /// when they are there. Where it throws, the parcel stays.
  virtual bool open(shm::unexpected_message& one, void* into, transfer& t, const char* operation) = 0;
  virtual bool opened(transfer& t, const shm::wait_site& site) = 0;
  /// Uses a message up without reading it. `received`: its sender need wait no longer.
  virtual void drop(shm::unexpected_message& one, bool received) noexcept = 0;

  // --- where others than the library receive too, on the same communicator: a message stays where it is
  // until a receive here gets it. next() finds nothing there.
  virtual bool shared() const noexcept { return false; }
  /// The first message that such a receive would take, if one has come.
  virtual bool peek(int, int, detail::envelope&, const char*) { return false; }
  /// Takes the message that peek() has found. Null: somebody else has.
  virtual shm::unexpected_message* fetch(const detail::envelope&, const char*) { return nullptr; }

  // --- what the engine can receive by itself, where it is shared: receives match in the order in which they
  // were begun, the library's and the program's.
  /// Whether the engine has taken the receive over; then it alone may get what would be received by it. Its
  /// place and length are known.
  virtual bool take_over(const detail::recv_args&, transfer&) { return false; }
  /// Whether something has come to one that was taken over, and what. Longer than its place: none of it is
  /// used.
  virtual bool came(transfer&, detail::envelope&, const shm::wait_site&) { return false; }
  /// Gives up one that was taken over.
  virtual void withdraw(transfer&) noexcept {}
};

}  // namespace tutti

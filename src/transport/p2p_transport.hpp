// SPDX-License-Identifier: Apache-2.0
//
// The transport of the program's point-to-point messages on one communicator. It sends, reports
// messages in the order of their arrival, and moves contents. The matching engine
// (src/communicator/p2p) above it decides which receive gets which message. Its code is the same
// for all engines.
#pragma once

#include "transport/shm/unexpected_message.hpp"
#include "transport/shm/wait_interface.hpp"
#include "transport/transfer.hpp"
#include "tutti/detail/p2p_abi.hpp"

namespace tutti::detail {

/// The transport of one rank. Peers are ranks of the communicator. A `transfer` and its buffers
/// must stay valid until the transfer is complete.
class p2p_transport {
 public:
  virtual ~p2p_transport() = default;
  virtual int max_tag() const noexcept { return 0x7fffffff; }

  // --- sending

  // Messages from one sender to one receiver arrive in the order in which they were posted.
  /// Returns true if the message is sent, as its mode defines it. Otherwise sent() reports it.
  virtual bool post(const detail::send_args& what, transfer& t) = 0;
  /// Returns true once the message is sent. The caller must not call it again after that.
  virtual bool sent(transfer& t, const shm::wait_site& site) = 0;
  /// Returns when the message is sent.
  virtual void wait_until_sent(transfer& t, const shm::wait_site& site) = 0;

  // --- receiving
  /// The next message that has arrived; null if there is none. The transport owns it until it is
  /// received or dropped. `operation` names the caller in errors.
  virtual shm::unexpected_message* next(const char* operation) = 0;
  /// Returns when a message may have arrived. May return early.
  virtual void wait_for_next(const shm::wait_site& site) = 0;
  /// Moves the contents to `into`, which is large enough, and consumes the message. If it returns
  /// false, contents_received() reports completion. If it throws, the message stays.
  virtual bool receive_contents(shm::unexpected_message& one, void* into, transfer& t,
                                const char* operation) = 0;
  virtual bool contents_received(transfer& t, const shm::wait_site& site) = 0;
  /// Consumes a message without reading it. The sender of a received message stops waiting.
  enum class dropped : std::uint8_t { received, unreceived };
  virtual void drop(shm::unexpected_message& one, dropped how) noexcept = 0;

  // --- shared communicators, on which the program calls MPI too

  // A message stays in MPI until a receive of the library gets it, and next() finds nothing.
  virtual bool shared() const noexcept { return false; }
  /// As MPI_Iprobe: finds the first message that such a receive would take, if one has arrived.
  virtual bool iprobe(int, int, detail::envelope&, const char*) { return false; }
  /// As MPI_Improbe: takes the message that iprobe() has found; null if another receiver took it.
  virtual shm::unexpected_message* improbe(const detail::envelope&, const char*) { return nullptr; }

  // --- receives that the engine of a shared communicator posts itself

  // Receives of the library and of the program then match in the order in which they were begun.
  /// Whether the engine posts the receive itself. If so, only the engine matches it. Its buffer
  /// and length are known.
  virtual bool try_irecv(const detail::recv_args&, transfer&) { return false; }
  /// Whether a receive of try_irecv() is complete, and its message. If the message is longer
  /// than the buffer, none of it is used.
  virtual bool irecv_done(transfer&, detail::envelope&, const shm::wait_site&) { return false; }

  // --- the end of a receive
  /// Called for a receive that is not complete, from try_irecv() or receive_contents(). Returns
  /// when the transport no longer writes to its buffer. It cancels the receive if no message has
  /// matched, and waits for the contents otherwise.
  virtual void end_receive(transfer&) noexcept {}
};

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// Messages of the program between ranks of one node. They travel through the node's memory, on all
// communicators and groups of a rank whose messages the program does not receive itself.
//
// A message of up to one cell travels at once. A longer one, or a synchronous one, is announced
// (RTS). The receiver that has matched it answers with a grant (CTS), and the contents follow,
// directly into its buffer. MPI has no part in this, so a receiver never has to look for the
// contents in two places, and a longer message is copied once less than if it arrived before its
// receive. If the receiver drops the message, the grant says so, and the send is complete.
//
// A standard send is complete when its message is in the ring. If the ring is full, it waits. A
// buffered send goes on from a copy. All waits of the library make progress here: they take
// messages of the program from the rings, answer grants and continue copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <vector>

#include "engines/mpi/node_messages.hpp"
#include "transport/shm/p2p_arrivals.hpp"
#include "transport/shm/process_messages.hpp"
#include "tutti/detail/p2p_abi.hpp"

namespace tutti::mpi {

class node_p2p {
 public:
  using queue = shm::p2p_arrivals::queue;
  using arrival = shm::p2p_arrival;

  node_p2p(shm::process_messages& through, node_messages& messages) noexcept
      : through_(through), messages_(messages) {}
  node_p2p(const node_p2p&) = delete;
  node_p2p& operator=(const node_p2p&) = delete;

  // `communicator`: its id, or node_messages::id_of_group().

  // --- sending
  /// `to`: a rank of the node, not this one. Returns true if the message is sent. Otherwise
  /// node_messages or this class owns the transfer.
  bool post(int to, std::uint32_t communicator, const detail::send_args& what, transfer& t);
  /// Whether advance() continues the transfer.
  static bool owns(const transfer& t) noexcept {
    return id_of(t).index >= first_index && id_of(t).index < end_index;
  }
  node_messages::progress advance(const transfer& t);

  // --- receiving
  /// Receives look for messages of a communicator here.
  queue& open(std::uint32_t communicator) { return through_.arrivals().of(communicator); }
  /// No receive looks for its messages from now on.
  void close(std::uint32_t communicator) noexcept { through_.arrivals().close(communicator); }
  /// The next message that has arrived, in any channel; null if there is none. `member_of`: by rank
  /// of the node, the member of the communicator.
  arrival* next(queue& of, const std::vector<int>& member_of);
  /// The same with messages that use MPI. `next_of_mpi()` returns one of them or null. Each eighth
  /// call looks for them first, so that many messages of one kind do not keep back the others.
  /// `calls`: counts the calls of the communicator.
  template <class NextOfMpi>
  shm::unexpected_message* next(queue& of, const std::vector<int>& member_of, unsigned& calls,
                                NextOfMpi&& next_of_mpi) {
    if (++calls % 8 == 0)
      if (shm::unexpected_message* const one = next_of_mpi()) return one;
    if (shm::unexpected_message* const one = next(of, member_of)) return one;
    return next_of_mpi();
  }
  /// Whether a message may still be received: not if discard_all() has ended its send.
  static bool is_whole(const arrival& one) noexcept { return !one.granted; }
  /// Consumes the message. If it returns false, node_messages owns the transfer of its contents.
  /// `sender`: its rank in the job, for reports.
  bool receive(arrival& one, int sender, void* into, transfer& t);
  /// Consumes the message without its contents. Its send completes.
  void drop(arrival& one) noexcept;

  // --- progress
  /// For pause(): every time if sends are in progress, else every 16th time.
  bool progress_is_due() noexcept { return is_busy() || (++pauses_ & 15) == 0; }
  void progress();
  /// Whether messages that this rank has sent are not complete.
  bool is_busy() const noexcept { return open_ != 0 || !copied_.empty(); }

  // --- ends
  /// The run ends. Nobody receives the messages that have arrived, so their sends complete.
  void discard_all();
  /// The buffers of all sends are about to be freed. They go on from copies. The caller calls the
  /// same function of node_messages afterwards. Returns false if there is no memory for the copies.
  bool release_buffers() noexcept;
  /// The job has failed, and buffers may be freed already. Forgets all sends.
  void drop_all() noexcept;

 private:
  static constexpr std::uint32_t first_index = request_id::first_of_node_p2p,
                                 end_index = request_id::first_of_node_messages;
  /// A send that was announced. Its index is the number that the receiver knows.
  struct announced_send {
    std::uint32_t generation = 0;
    bool busy = false;
    bool detached = false;   // nobody waits for it
    bool granted = false;    // the contents are on their way
    bool discarded = false;  // the receiver has dropped the message
    int to = 0;
    const void* data = nullptr;
    std::size_t bytes = 0;
    std::unique_ptr<std::byte[]> copy;
    transfer contents;
  };
  /// A message that goes on from a copy.
  struct copied_message {
    std::unique_ptr<std::byte[]> copy;
    transfer state;
  };

  arrival* next(queue& of);
  static std::size_t bytes_of(arrival& one) noexcept;
  static std::unique_ptr<std::byte[]> copy_of(const void* data, std::size_t bytes);
  void announce(int to, std::uint32_t communicator, const detail::send_args& what, transfer& t);
  void send_or_copy(int to, std::uint64_t tag, const void* data, std::size_t bytes);
  void grant(arrival& one, bool discards);
  void accept(const shm::p2p_grant& g, int from);
  bool is_complete(const announced_send& one);
  void release(announced_send& one) noexcept;
  announced_send& unused_send();

  shm::process_messages& through_;
  node_messages& messages_;
  std::deque<announced_send> sends_;
  std::size_t open_ = 0;  // busy ones
  std::list<copied_message> copied_;
  std::uint32_t pauses_ = 0;
  bool failed_ = false;
};

}  // namespace tutti::mpi

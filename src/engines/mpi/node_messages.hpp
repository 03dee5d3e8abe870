// SPDX-License-Identifier: Apache-2.0
//
// Messages of schedules between ranks of one node, on communicators and groups, and the parts of
// node_p2p.hpp that wait. They travel through the node's memory (transport/shm/process_channel.hpp)
// and not through MPI. Requests are in a table, not in the caller's transfers, so that an exception
// may free those.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>

#include "engines/mpi/pending_message.hpp"
#include "transport/shm/process_messages.hpp"
#include "transport/transfer.hpp"

namespace tutti::mpi {

class node_messages {
 public:
  enum class progress : std::uint8_t {
    under_way,
    complete,
    wrong_length,  ///< complete, but the message has another length
    abandoned      ///< release_buffers() or drop() has ended it
  };
  struct lengths {
    int from;  // as irecv() got it
    std::size_t expected, actual;
  };

  // A tag has 30 bits for the communicator. If it has an MPI_Comm, these hold its id. Messages of
  // communicators whose id is not below first_group_id use MPI. For a group that was made without a
  // message, they hold its number on this node (group_entry.hpp).
  static constexpr std::uint32_t first_group_id = std::uint32_t{1} << 29;
  static constexpr std::uint32_t id_of_group(std::uint32_t number) noexcept {
    return first_group_id + number;
  }
  static constexpr std::uint64_t tag_of_schedule(std::uint32_t communicator, std::uint32_t run) noexcept {
    return shm::tag_of(shm::message_kind::schedule, std::uint64_t{communicator} << 32 | run);
  }

  explicit node_messages(shm::process_messages& through) noexcept : through_(through) {}

  /// `to`, `from`: ranks of the node, not this one. Messages between two ranks with the same tag
  /// are received in the order in which they were sent. `sender`: the rank of the job, for
  /// wrong_lengths().
  void isend(int to, std::uint64_t tag, const void* data, std::size_t bytes, transfer& t) {
    auto& channel = through_.to(to);
    if (channel.post(tag, data, bytes)) [[likely]]
      return mark(t, completed, 0);
    start_send(to, tag, data, bytes, t);
  }
  void irecv(int from, int sender, std::uint64_t tag, void* data, std::size_t bytes, transfer& t) {
    auto& channel = through_.from(from);
    if (const std::byte* const arrived = channel.find(tag, bytes)) {
      if (bytes != 0) std::memcpy(data, arrived, bytes);
      channel.consume();
      return mark(t, completed, 0);
    }
    start_receive(from, sender, tag, data, bytes, t);
  }
  /// Whether isend() or irecv() began the transfer.
  static bool owns(const transfer& t) noexcept { return id_of(t).index >= first_index; }
  /// Continues the transfer. Unless the result is under_way, the caller must not pass it again.
  progress advance(const transfer& t) {
    return id_of(t).index == completed ? progress::complete : advance_entry(id_of(t));
  }
  /// The lengths of the last transfer for which advance() returned wrong_length.
  const lengths& wrong_lengths() const noexcept { return wrong_; }

  /// Whether progress_all() has work.
  bool is_busy() const noexcept { return entries_in_use_ != 0; }
  /// Continues all transfers. A waiting rank calls it, because its peers may wait for any of them.
  void progress_all();

  /// The buffer of this transfer is about to be freed. A receive discards its message.
  void abandon(const transfer& t) noexcept;
  /// The buffers of all transfers are about to be freed. Sends go on from copies; receives discard
  /// their messages. Returns false if there is no memory for the copies.
  bool release_buffers() noexcept;
  /// The job has failed, and buffers may be freed already. Forgets all transfers.
  void drop() noexcept;

 private:
  static constexpr std::uint32_t first_index = request_id::first_of_node_messages, completed = 0xffffffff;
  struct entry {
    std::uint32_t generation = 0;
    bool receives = false, busy = false, abandoned = false;
    int peer = 0, sender = 0;
    shm::send_request sent;
    shm::recv_request received;
    std::unique_ptr<std::byte[]> copy;  // of the data of an abandoned send
  };

  static void mark(transfer& t, std::uint32_t index, std::uint32_t generation) noexcept {
    *reinterpret_cast<request_id*>(t.state) = {index, generation};
  }
  void start_send(int to, std::uint64_t tag, const void* data, std::size_t bytes, transfer& t);
  void start_receive(int from, int sender, std::uint64_t tag, void* data, std::size_t bytes, transfer& t);
  progress advance_entry(const request_id& which);
  entry& take(int peer, bool receives, transfer& t);
  void release(entry& e) noexcept;
  bool abandon(entry& e) noexcept;
  static bool is_complete(const entry& e) noexcept {
    return e.receives ? e.received.is_complete() : e.sent.is_complete();
  }

  shm::process_messages& through_;
  std::deque<entry> entries_;  // requests must not move
  std::size_t entries_in_use_ = 0, abandoned_ = 0;
  lengths wrong_{};
};

}  // namespace tutti::mpi

// SPDX-License-Identifier: Apache-2.0
//
// Moves messages of groups that were made without a message, between nodes and from a rank to
// itself. Such groups have no MPI communicator. All these messages use one communicator, on which
// nothing else is sent. If the ranks of a node share no memory, or the table of its groups is full,
// the messages between them use it too (group_context.hpp). Each message begins with a header that
// names its group and its call. Short contents follow the header; longer contents use a tag that
// the header names. A message is passed to its group, or kept if that group is not open yet. So
// nothing depends on the number of tags of an MPI, or on the order in which groups are made.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/group/group_name.hpp"
#include "engines/mpi/mpi_endpoint.hpp"

namespace tutti::mpi {

class group_context;

/// The header of every message.
struct head {
  group_name group;
  std::uint64_t bytes;   // of the contents
  std::int32_t source;   // rank in the group
  std::uint32_t number;  // of the call; of a point-to-point message, its tag
  std::int32_t body;     // the tag of the contents; 0: they follow the header
  std::uint32_t is_p2p;
};

/// A message that no receive has matched yet.
struct arrival {
  head what;
  std::unique_ptr<std::byte[]> contents;  // null if they use a tag of their own
};

class group_messages {
 public:
  /// Contents of up to this many bytes follow the header, in the copy that the sender makes.
  static constexpr std::size_t inline_bytes = 2048;

  /// `comm`: over all ranks of the job; the caller keeps ownership.
  group_messages(mpi_endpoint& ep, MPI_Comm comm) : ep_(ep), comm_(comm) {}
  ~group_messages();
  group_messages(const group_messages&) = delete;
  group_messages& operator=(const group_messages&) = delete;

  MPI_Comm comm() const noexcept { return comm_; }

  /// Messages of a group are passed to it between open() and close().
  void open(group_context& one);
  void close(group_context& one) noexcept;

  /// Sends to a rank of the job. Returns true if the contents were copied, so the send is complete.
  /// Otherwise `t` completes later. A synchronous send completes when the contents are received.
  bool send(int to, head what, const void* data, send_modes mode, transfer& t, const char* operation);
  /// Begins to receive contents that use a tag of their own.
  void receive(int from, const head& what, void* into, transfer& t, const char* operation);
  /// Receives and discards such contents. Blocks.
  void receive_and_discard(int from, const head& what);
  /// Passes the messages that have arrived to their groups.
  void poll(const char* operation);
  /// Called when the job has failed: no pending receive is written any more.
  void cancel_receives() noexcept;

 private:
  struct posted_buffer {
    MPI_Request request = MPI_REQUEST_NULL;
    std::array<std::byte, sizeof(head) + inline_bytes> bytes;
  };
  struct send_copy {
    MPI_Request request = MPI_REQUEST_NULL;
    std::array<std::byte, sizeof(head) + inline_bytes> bytes;
  };

  bool all_sent() noexcept;
  void post_receives();
  void post_receive(posted_buffer& one);
  void dispatch(const std::byte* message);
  send_copy& free_copy();

  mpi_endpoint& ep_;
  MPI_Comm comm_;
  // Posted receives, made with the first group; used in turn.
  std::unique_ptr<std::array<posted_buffer, 16>> posted_buffers_;
  std::size_t next_buffer_ = 0;
  std::deque<send_copy> copies_;  // used in turn
  std::size_t next_copy_ = 0;
  std::vector<std::int32_t> body_tags_;  // sent so far to each rank of the job
  std::unordered_map<group_name, group_context*, group_name::hash> groups_;
  std::unordered_map<group_name, std::vector<arrival>, group_name::hash> early_arrivals_;
};

}  // namespace tutti::mpi

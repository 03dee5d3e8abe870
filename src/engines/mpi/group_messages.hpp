// SPDX-License-Identifier: Apache-2.0
//
// How messages of groups travel that were made without a message, and so have no communicator of MPI's own:
// all of them on one, which nothing else uses. Each message begins with a head that names its group and its
// call; short contents stand behind the head, others come on a tag that the head tells. Whatever arrives is
// handed to the group that it is for, and kept where that group is not there yet. So nothing depends on how
// many tags an MPI has, nor on the order in which groups are made.
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

/// What every message begins with.
struct head {
  group_name group;
  std::uint64_t bytes;   // of the contents
  std::int32_t source;   // rank in the group
  std::uint32_t number;  // of the call; of mail its tag
  std::int32_t body;     // the tag on which the contents come; 0: they stand behind the head
  std::uint32_t is_p2p;
};

/// A message that nobody has asked for yet.
struct arrival {
  head what;
  std::unique_ptr<std::byte[]> contents;  // null where they come on a tag of their own
};

class group_messages {
 public:
  /// Contents of so many bytes stand behind the head: what every MPI sends without an answer.
  static constexpr std::size_t at_once = 2048;

  /// `comm`: over all ranks of the job; it stays the caller's.
  group_messages(mpi_endpoint& ep, MPI_Comm comm) : ep_(ep), comm_(comm) {}
  ~group_messages();
  group_messages(const group_messages&) = delete;
  group_messages& operator=(const group_messages&) = delete;

  MPI_Comm comm() const noexcept { return comm_; }

  /// What comes for a group is given to it from open() to close().
  void open(group_context& one);
  void close(group_context& one) noexcept;

  /// Sends to a rank of the job. True: complete, the contents were copied. False: `t` says when.
  bool send(int to, head what, const void* data, bool synchronous, transfer& t, const char* operation);
  /// Begins to receive the contents of a message that come on a tag of their own.
  void receive(int from, const head& what, void* into, transfer& t, const char* operation);
  /// Receives them where nobody wants them.
  void take_in(int from, const head& what);
  /// Hands over what has come.
  void poll(const char* operation);
  /// The job has failed: what was to be received is not written any more.
  void forget() noexcept;

 private:
  struct place {
    MPI_Request request = MPI_REQUEST_NULL;
    std::array<std::byte, sizeof(head) + at_once> bytes;
  };
  struct copy {
    MPI_Request request = MPI_REQUEST_NULL;
    std::array<std::byte, sizeof(head) + at_once> bytes;
  };

  bool all_sent() noexcept;
  void listen();
  void await(place& one);
  void deliver(const std::byte* message);
  copy& unused_copy();

  mpi_endpoint& ep_;
  MPI_Comm comm_;
  std::unique_ptr<std::array<place, 16>> object_pool_;  // from the first group on; served in turn
  std::size_t next_place_ = 0;
  std::deque<copy> copies_;  // used in turn
  std::size_t next_copy_ = 0;
  std::vector<std::int32_t> bodies_;  // sent so far to each rank of the job
  std::unordered_map<group_name, group_context*, group_name::hash> groups_;
  std::unordered_map<group_name, std::vector<arrival>, group_name::hash> early_;
};

}  // namespace tutti::mpi

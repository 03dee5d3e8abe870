// SPDX-License-Identifier: Apache-2.0
//
// A context over MPI for a group that was made without a message. Messages between members on one
// node use its memory (node_messages.hpp). Their tags contain the number of the group on this node.
// All other messages use group_messages. MPI's collectives do not serve the group, because they
// need a communicator that all members make together. If its members share a node, the collectives
// in its memory are its native collectives.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "engines/mpi/group_messages.hpp"
#include "engines/mpi/memory_collectives.hpp"

namespace tutti::mpi {

class group_context final : public context {
 public:
  group_context(mpi_endpoint& ep, group_messages& m, const group& members, std::uint64_t id,
                const group_name& name);
  ~group_context();

  const group_name& name() const noexcept { return name_; }

  void isend(int to, std::uint32_t run, const void* data, std::size_t bytes, transfer& t) override;
  void irecv(int from, std::uint32_t run, void* data, std::size_t bytes, transfer& t) override;
  bool done(transfer& t, const shm::wait_site& site) override;
  std::unique_ptr<p2p_transport> open_p2p() override;

  native_offer offers(const agreed_signature& s) const noexcept override;
  std::optional<std::size_t> native_in_memory(const agreed_signature& s) const noexcept override;
  void native(const call& c, const shm::wait_site& site) override;
  void native_begin(const call& c, native_state& s) override;
  bool native_progress(native_state& s, bool blocking, const shm::wait_site& site) override;
  std::optional<shm::line_exchange> lines() override;

  // --- for group_messages
  /// Returns true, and uses the message, if a posted receive matches it.
  bool deliver_now(const head& what, const std::byte* contents);
  void enqueue(arrival&& one);
  void cancel_receives() noexcept;

  // --- for the p2p transport
  /// The rank on this node; -1: messages to and from the member use MPI. Enters the group.
  int rank_on_node(int member);
  /// In the tags of messages on this node. Only after rank_on_node() has returned a rank.
  std::uint32_t id_on_node() const noexcept { return node_messages::id_of_group(entry_->number()); }
  /// Called before a message to a rank of this node.
  void note_message_to(int rank) noexcept { entry_->note_message_to(rank); }
  group_messages& messages() noexcept { return messages_; }
  std::deque<arrival>& p2p_arrivals() noexcept { return p2p_arrivals_; }

 private:
  /// A receive of a call that has no message yet, or whose completion the caller has not seen.
  struct pending_transfer {
    std::uint64_t number;  // identifies it to its caller; 0: free
    std::int32_t from;
    std::uint32_t run;
    void* into;
    std::size_t bytes, received_bytes;
    enum : std::uint8_t { waiting, receiving_body, complete } state;
    transfer body_transfer;
  };
  /// The kind of a handle. As an index of request_id it belongs to no table of node_messages.
  enum : std::uint32_t { complete, sending, receiving };
  /// The contents of a transfer that node_messages does not own: the number of a pending receive,
  /// or 0 and the state of the endpoint, or nothing. node_messages::owns() reads `which`.
  struct handle {
    request_id which;  // index: the kind; generation: the row of a pending receive
    std::uint64_t number;
  };
  /// A native collective in progress.
  struct native_in_progress {
    const call* what;
    memory_collectives::progress progress;
  };
  const memory_collectives* calls_in_memory() const;
  static transfer& body_transfer_of(transfer& t) noexcept;

  pending_transfer* oldest_match(const head& what) noexcept;
  void match_message(pending_transfer& w, const head& what, const std::byte* contents);

  mpi_endpoint& ep_;
  group_messages& messages_;
  group_name name_;
  std::vector<pending_transfer> pending_transfers_;
  std::uint64_t last_number_ = 0;
  std::deque<arrival> unexpected_, p2p_arrivals_;
  // Made with the first message to or from another rank of the node, or with in_memory_, which uses
  // it.
  mutable std::optional<group_entry> entry_;
  // Opened by the first call that it may serve, when all members select their algorithm.
  mutable bool memory_requested_ = false;
  mutable std::unique_ptr<memory_collectives> in_memory_;
};

}  // namespace tutti::mpi

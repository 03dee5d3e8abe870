// SPDX-License-Identifier: Apache-2.0
//
// A group that was made without a message, over MPI: its messages go by group_messages. MPI's own collectives
// do not serve it, since they would need a communicator that all members make together.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "engines/mpi/group_messages.hpp"

namespace tutti::mpi {

class group_context final : public context {
 public:
  group_context(mpi_endpoint& ep, group_messages& post, const group& members, std::uint64_t id,
                const group_name& name);
  ~group_context();

  const group_name& name() const noexcept { return name_; }

  void isend(int to, std::uint32_t run, const void* data, std::size_t bytes, transfer& t) override;
  void irecv(int from, std::uint32_t run, void* data, std::size_t bytes, transfer& t) override;
  bool done(transfer& t, const shm::wait_site& site) override;
  std::unique_ptr<p2p_transport> open_p2p() override;

  // --- for the post
  /// True where a receive waits for it and its contents are at hand: they are used.
  bool take_at_once(const head& what, const std::byte* contents);
  void take(arrival&& one);
  void forget() noexcept;

  // --- for the carrier
  group_messages& post() noexcept { return messages_; }
  std::deque<arrival>& p2p() noexcept { return p2p_; }

 private:
  /// A receive of a call that has not got its message, or not seen by its caller.
  struct pending_transfer {
    std::uint64_t number;  // names it to its caller; 0: free
    std::int32_t from;
    std::uint32_t run;
    void* into;
    std::size_t bytes, came;
    enum : std::uint8_t { waits, moves, over } now;
    transfer moving;
  };
  /// What a transfer holds: the number of a want, or 0 and what the endpoint wrote, or nothing.
  struct handle {
    enum : std::uint32_t { complete, sends, receives } kind;
    std::uint32_t row;
    std::uint64_t number;
  };
  static transfer& moving_of(transfer& t) noexcept;

  pending_transfer* oldest_for(const head& what) noexcept;
  void give(pending_transfer& w, const head& what, const std::byte* contents);

  mpi_endpoint& ep_;
  group_messages& messages_;
  group_name name_;
  std::vector<pending_transfer> pending_transfers_;
  std::uint64_t numbers_ = 0;
  std::deque<arrival> aside_, p2p_;
};

}  // namespace tutti::mpi

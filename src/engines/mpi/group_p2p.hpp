// SPDX-License-Identifier: Apache-2.0
//
// The program's messages in a group that was made without a message. Between two ranks of one node
// they travel through its memory (node_p2p.hpp). group_messages delivers all others. As on every
// communicator, src/communicator/p2p matches them with receives.
#pragma once

#include <memory>
#include <vector>

#include "engines/mpi/group_context.hpp"
#include "engines/mpi/object_pool.hpp"

namespace tutti::mpi {

class group_p2p_transport final : public p2p_transport {
 public:
  /// `node`: null if all messages use MPI.
  group_p2p_transport(group_context& where, mpi_endpoint& ep, node_p2p* node);
  ~group_p2p_transport();

  bool post(const detail::send_args& what, transfer& t) override;
  bool sent(transfer& t, const shm::wait_site& site) override;
  void wait_until_sent(transfer& t, const shm::wait_site& site) override {
    while (!sent(t, site)) ep_.pause(site);
  }
  shm::unexpected_message* next(const char* operation) override;
  void wait_for_next(const shm::wait_site& site) override { ep_.pause(site); }
  bool receive_contents(shm::unexpected_message& one, void* into, transfer& t,
                        const char* operation) override;
  bool contents_received(transfer& t, const shm::wait_site& site) override {
    return node_messages::owns(t) ? ep_.finished_on_node(t, site) : ep_.finished(t, site);
  }
  void drop(shm::unexpected_message& one, dropped how) noexcept override;
  void end_receive(transfer& t) noexcept override {
    if (node_messages::owns(t)) return ep_.messages_on_node()->abandon(t);
    ep_.end_receive(t);
  }

 private:
  struct arrived_message final : shm::unexpected_message {
    arrival from;
  };
  void open_on_node();
  /// The rank on this node; -1: messages to and from the member use MPI.
  int rank_on_node(int member) const { return queue_ != nullptr ? where_.rank_on_node(member) : -1; }
  shm::unexpected_message* next_of_mpi(const char* operation);
  void consume(arrived_message& one) noexcept;

  group_context& where_;
  mpi_endpoint& ep_;
  node_p2p* node_;
  node_p2p::queue* queue_ = nullptr;  // null: no member may send through the memory of the node
  std::vector<int> member_of_;        // by rank of the node
  bool uses_mpi_ = true;              // members other than this one send through MPI
  std::size_t to_self_ = 0;           // messages of this rank to itself that it has not found yet
  unsigned turns_ = 0;
  std::vector<buffered_message> buffered_;
  object_pool<arrived_message> arrived_;
};

}  // namespace tutti::mpi

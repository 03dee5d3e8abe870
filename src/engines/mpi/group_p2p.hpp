// SPDX-License-Identifier: Apache-2.0
//
// The program's messages in a group that was made without a message. group_messages delivers them.
// As on every communicator, src/communicator/p2p matches them with receives.
#pragma once

#include <memory>
#include <vector>

#include "engines/mpi/group_context.hpp"
#include "engines/mpi/object_pool.hpp"

namespace tutti::mpi {

class group_p2p_transport final : public p2p_transport {
 public:
  group_p2p_transport(group_context& where, mpi_endpoint& ep) : where_(where), ep_(ep) {}
  ~group_p2p_transport();

  bool post(const detail::send_args& what, transfer& t) override;
  bool sent(transfer& t, const shm::wait_site& site) override {
    where_.messages().poll(site.operation);
    return ep_.finished(t, site);
  }
  void wait_until_sent(transfer& t, const shm::wait_site& site) override {
    while (!sent(t, site)) ep_.pause(site);
  }
  shm::unexpected_message* next(const char* operation) override;
  void wait_for_next(const shm::wait_site& site) override { ep_.pause(site); }
  bool receive_contents(shm::unexpected_message& one, void* into, transfer& t,
                        const char* operation) override;
  bool contents_received(transfer& t, const shm::wait_site& site) override { return ep_.finished(t, site); }
  void drop(shm::unexpected_message& one, dropped how) noexcept override;
  void end_receive(transfer& t) noexcept override { ep_.end_receive(t); }

 private:
  struct arrived_message final : shm::unexpected_message {
    arrival from;
  };
  void consume(arrived_message& one) noexcept;

  group_context& where_;
  mpi_endpoint& ep_;
  std::vector<buffered_message> buffered_;
  object_pool<arrived_message> arrived_;
};

}  // namespace tutti::mpi

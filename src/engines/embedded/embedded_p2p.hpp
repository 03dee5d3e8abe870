// SPDX-License-Identifier: Apache-2.0
//
// Point-to-point messages between ranks of one process. Up to 4 KiB travel in the queued message.
// Longer contents stay in the sender's memory until the receiver copies them, except in buffered
// sends.
#pragma once

#include <memory>
#include <vector>

#include "transport/endpoint.hpp"
#include "transport/p2p_transport.hpp"
#include "transport/shm/p2p_queue.hpp"

namespace tutti::detail {

class embedded_p2p_transport final : public p2p_transport {
 public:
  explicit embedded_p2p_transport(context& where);
  ~embedded_p2p_transport();

  bool post(const detail::send_args& what, transfer& t) override;
  bool sent(transfer& t, const shm::wait_site& site) override;
  void wait_until_sent(transfer& t, const shm::wait_site& site) override;
  shm::unexpected_message* next(const char*) override { return queue_->next(); }
  void wait_for_next(const shm::wait_site& site) override;
  bool receive_contents(shm::unexpected_message& one, void* into, transfer& t,
                        const char* operation) override;
  bool contents_received(transfer&, const shm::wait_site&) override { return true; }
  void drop(shm::unexpected_message& one, dropped how) noexcept override;

 private:
  static constexpr std::size_t page_size = 64;
  struct peer {
    std::shared_ptr<shm::p2p_queue> queue;
    shm::wakeup_flag* wakeup = nullptr;
    bool same_worker = false;
  };
  /// The state of a send in its transfer.
  struct send_state {
    std::atomic<std::uint32_t> done;
    bool same_worker;
  };

  peer& to(int rank) {
    std::unique_ptr<peer[]>& page = peers_[static_cast<std::size_t>(rank) / page_size];
    if (page != nullptr) [[likely]]
      if (peer& entry = page[static_cast<std::size_t>(rank) % page_size]; entry.queue != nullptr) [[likely]]
        return entry;
    return find(rank);
  }
  peer& find(int rank);
  void end(shm::queued_message& one) noexcept;

  context& where_;
  shm::node& node_;
  shm::message_pool& pool_;
  std::shared_ptr<shm::p2p_queue> queue_;
  int rank_;
  bool one_worker_;                             // one worker runs all ranks of the job
  std::vector<std::unique_ptr<peer[]>> peers_;  // in pages, so that memory is allocated on use
};

}  // namespace tutti::detail

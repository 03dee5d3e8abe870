// SPDX-License-Identifier: Apache-2.0
//
// The program's own messages between ranks of one process. Up to 4 KiB travel in the letter; more stay where
// they are until the receiver copies them, unless the send is to be complete at once.
#pragma once

#include <memory>
#include <vector>

#include "engines/carrier.hpp"
#include "engines/endpoint.hpp"
#include "fabric/postbox.hpp"

namespace tutti {

class embedded_carrier final : public carrier {
 public:
  explicit embedded_carrier(context& where);
  ~embedded_carrier();

  bool post(const detail::letter& what, transfer& t) override;
  bool sent(transfer& t, const fabric::wait_site& site) override;
  void wait_until_sent(transfer& t, const fabric::wait_site& site) override;
  fabric::parcel* next(const char*) override { return own_->next(); }
  void wait_for_next(const fabric::wait_site& site) override;
  bool open(fabric::parcel& one, void* into, transfer& t, const char* operation) override;
  bool opened(transfer&, const fabric::wait_site&) override { return true; }
  void drop(fabric::parcel& one, bool received) noexcept override;

 private:
  static constexpr std::size_t page_size = 64;
  struct peer {
    std::shared_ptr<fabric::postbox> box;
    fabric::doorbell* bell = nullptr;
    bool same_worker = false;
  };
  /// What a transfer of a send holds.
  struct under_way {
    std::atomic<std::uint32_t> done;
    bool same_worker;
  };

  peer& to(int rank) {
    std::unique_ptr<peer[]>& page = peers_[static_cast<std::size_t>(rank) / page_size];
    if (page != nullptr) [[likely]]
      if (peer& known = page[static_cast<std::size_t>(rank) % page_size]; known.box != nullptr) [[likely]]
        return known;
    return find(rank);
  }
  peer& find(int rank);
  void end(fabric::letter& one) noexcept;

  context& where_;
  fabric::node& node_;
  fabric::letter_store& letters_;
  std::shared_ptr<fabric::postbox> own_;
  int rank_;
  bool one_worker_;                             // runs all ranks of the job
  std::vector<std::unique_ptr<peer[]>> peers_;  // in pages, so that memory follows use
};

}  // namespace tutti

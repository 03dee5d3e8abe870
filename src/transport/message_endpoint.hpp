// SPDX-License-Identifier: Apache-2.0
//
// The endpoint of an engine whose ranks share no memory. All data moves through isend and irecv.
// The functions that only the shared-memory transport needs are never called.
#pragma once

#include <stdexcept>

#include "transport/endpoint.hpp"

namespace tutti::detail {

class message_endpoint : public endpoint {
 public:
  shm::node* node() noexcept final { return nullptr; }
  void wait(const std::atomic<std::uint32_t>&, std::uint32_t, bool, const shm::wait_site&) final {
    throw std::logic_error("the ranks of this engine share no words of memory");
  }
  shm::wakeup_flag& wakeup() noexcept final { return wakeup_; }

 private:
  shm::wakeup_flag wakeup_;
};

}  // namespace tutti::detail

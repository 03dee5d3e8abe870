// SPDX-License-Identifier: Apache-2.0
//
// The endpoint of an engine whose ranks share no memory: all goes through isend and irecv, and what only the
// fabric asks for is never asked.
#pragma once

#include <stdexcept>

#include "engines/endpoint.hpp"

namespace tutti {

class message_endpoint : public endpoint {
 public:
  fabric::node* node() noexcept final { return nullptr; }
  void wait(const std::atomic<std::uint32_t>&, std::uint32_t, bool, const fabric::wait_site&) final {
    throw std::logic_error("the ranks of this engine share no words of memory");
  }
  fabric::doorbell& bell() noexcept final { return bell_; }

 private:
  fabric::doorbell bell_;
};

}  // namespace tutti

// SPDX-License-Identifier: Apache-2.0
//
// The program's own messages within a group that was made without a message. The post finds them; which
// receive gets which is src/mail's, as on every communicator.
#pragma once

#include <memory>
#include <vector>

#include "engines/mpi/group_context.hpp"
#include "engines/mpi/places.hpp"

namespace tutti::mpi {

class group_carrier final : public carrier {
 public:
  group_carrier(group_context& where, mpi_endpoint& door) : where_(where), door_(door) {}
  ~group_carrier();

  bool post(const detail::letter& what, transfer& t) override;
  bool sent(transfer& t, const fabric::wait_site& site) override {
    where_.post().poll(site.operation);
    return door_.finished(t, site);
  }
  void wait_until_sent(transfer& t, const fabric::wait_site& site) override {
    while (!sent(t, site)) door_.pause(site);
  }
  fabric::parcel* next(const char* operation) override;
  void wait_for_next(const fabric::wait_site& site) override { door_.pause(site); }
  bool open(fabric::parcel& one, void* into, transfer& t, const char* operation) override;
  bool opened(transfer& t, const fabric::wait_site& site) override { return door_.finished(t, site); }
  void drop(fabric::parcel& one, bool received) noexcept override;

 private:
  struct found_message final : fabric::parcel {
    arrival from;
  };
  void use_up(found_message& one) noexcept;

  group_context& where_;
  mpi_endpoint& door_;
  std::vector<kept_message> kept_;
  places<found_message> found_;
};

}  // namespace tutti::mpi

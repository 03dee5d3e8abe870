// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "transport/shm/wait_interface.hpp"

namespace tutti {

/// What a wait serves: something under way on one rank.
class progressable {
 public:
  /// Goes on as far as it can; true when complete. With `blocking` it waits until then.
  virtual bool go_on(bool blocking) = 0;
  /// Grows with whatever is done; tells a wait in vain from one that moves.
  virtual std::uint64_t moves() const noexcept = 0;
  /// What it stands at, for reports.
  virtual shm::wait_site site(const char* what = "", int peer = -1) const noexcept = 0;
  /// Runs a piece of the program's own code that only this rank's thread can run and that others may wait
  /// for. It may take long, so only blocking waits call it.
  virtual void work() {}

 protected:
  ~progressable() = default;
};

}  // namespace tutti

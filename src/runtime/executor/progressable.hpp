// SPDX-License-Identifier: Apache-2.0
//
// The interface of operations in progress.
#pragma once

#include <cstdint>

#include "transport/shm/wait_interface.hpp"

namespace tutti::detail {

/// An operation in progress on one rank, which waits of that rank progress.
class progressable {
 public:
  /// Continues as far as possible; returns true when complete. With `blocking` it waits until then.
  virtual bool advance(bool blocking) = 0;
  /// Grows with all progress. So a wait can see whether the operation moves.
  virtual std::uint64_t progress_count() const noexcept = 0;
  /// The position of the operation, for reports.
  virtual shm::wait_site site(const char* what = "", int peer = -1) const noexcept = 0;
  /// Runs a piece of the program's code that only this rank's thread can run, and that other ranks
  /// may wait for. It may take long, so only blocking waits call it.
  virtual void work() {}

 protected:
  ~progressable() = default;
};

}  // namespace tutti::detail

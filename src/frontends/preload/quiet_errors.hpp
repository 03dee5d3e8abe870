// SPDX-License-Identifier: Apache-2.0
//
// Suspends the program's error handlers for errors that belong to no communicator, while tutti
// makes MPI calls that may fail. With several threads, the first one suspends the handlers and the
// last one restores them.
#pragma once

#include <optional>

#include "engines/mpi/returned_errors.hpp"
#include "frontends/preload/optional_mutex.hpp"
#include "frontends/preload/real_mpi.hpp"

namespace tutti::preload {

class error_handlers {
 public:
  explicit error_handlers(bool multithreaded) : mutex_(multithreaded) {}
  void suspend() {
    const auto held = mutex_.lock();
    if (depth_++ == 0) suspended_.emplace(real<MPI_Comm_set_errhandler>);
  }
  void restore() {
    const auto held = mutex_.lock();
    if (--depth_ == 0) suspended_.reset();
  }

 private:
  optional_mutex mutex_;
  int depth_ = 0;
  std::optional<mpi::returned_errors> suspended_;
};

class quiet_errors {
 public:
  /// `wanted` false: no effect.
  explicit quiet_errors(error_handlers& all, bool wanted = true) : all_(wanted ? &all : nullptr) {
    if (all_ != nullptr) all_->suspend();
  }
  ~quiet_errors() {
    if (all_ != nullptr) all_->restore();
  }
  quiet_errors(const quiet_errors&) = delete;
  quiet_errors& operator=(const quiet_errors&) = delete;

 private:
  error_handlers* all_;
};

}  // namespace tutti::preload

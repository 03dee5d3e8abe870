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
  explicit error_handlers(bool several) : lock_(several) {}
  void put_aside() {
    const auto held = lock_.take();
    if (depth_++ == 0) aside_.emplace(real<MPI_Comm_set_errhandler>);
  }
  void put_back() {
    const auto held = lock_.take();
    if (--depth_ == 0) aside_.reset();
  }

 private:
  turns lock_;
  int depth_ = 0;
  std::optional<mpi::returned_errors> aside_;
};

class quiet_errors {
 public:
  /// `wanted` false: no effect.
  explicit quiet_errors(error_handlers& all, bool wanted = true) : all_(wanted ? &all : nullptr) {
    if (all_ != nullptr) all_->put_aside();
  }
  ~quiet_errors() {
    if (all_ != nullptr) all_->put_back();
  }
  quiet_errors(const quiet_errors&) = delete;
  quiet_errors& operator=(const quiet_errors&) = delete;

 private:
  error_handlers* all_;
};

}  // namespace tutti::preload

// SPDX-License-Identifier: Apache-2.0
//
// Errors. Each names the operation, the rank, the parameter and the remedy, so that the message alone is
// enough to mend the call.
#pragma once

#include <exception>
#include <string>
#include <utility>

namespace tutti {

/// Base of everything that the library throws.
class error : public std::exception {
 public:
  /// `operation` is the call as the user wrote it ("allreduce"), `rank` the rank that saw the fault (-1: no
  /// rank, as before the ranks exist), `parameter` the named parameter at fault (empty: none), `problem` what
  /// is wrong with it, `remedy` what to do.
  error(std::string operation, int rank, std::string parameter, std::string problem, std::string remedy)
      : operation_(std::move(operation)), parameter_(std::move(parameter)), rank_(rank) {
    text_ = "tutti: " + operation_;
    if (rank >= 0) text_ += " on rank " + std::to_string(rank);
    text_ += ": ";
    if (!parameter_.empty()) text_ += parameter_ + ": ";
    text_ += problem;
    if (!remedy.empty()) text_ += "; " + remedy;
  }

  const char* what() const noexcept override { return text_.c_str(); }
  const std::string& operation() const noexcept { return operation_; }
  const std::string& parameter() const noexcept { return parameter_; }
  int rank() const noexcept { return rank_; }

 private:
  std::string operation_, parameter_, text_;
  int rank_;
};

/// A call that can be seen to be wrong before anything is sent.
class usage_error : public error {
 public:
  using error::error;
};

/// The ranks called something different from one another (seen in checked mode, or by a message that does not
/// fit).
class mismatch_error : public error {
 public:
  using error::error;
};

/// A message longer than the place for it.
class truncation_error : public mismatch_error {
 public:
  using mismatch_error::mismatch_error;
};

/// All ranks wait for one another. The text says who waits where, for whom.
class deadlock_error : public error {
 public:
  using error::error;
};

/// Another rank failed, and this one was taken out of its wait. The text names the rank that failed first.
class peer_error : public error {
 public:
  using error::error;
};

/// An engine that does not exist, cannot start, or was lost.
class engine_error : public error {
 public:
  using error::error;
};

}  // namespace tutti

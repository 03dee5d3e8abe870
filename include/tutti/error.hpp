// SPDX-License-Identifier: Apache-2.0
//
// Errors. Each names the operation, the rank, the parameter and the remedy, so that the message
// alone suffices to correct the call:
//
//     tutti: alltoall on rank 0 at sums.cpp:42: send_buf: 7 elements cannot be cut into 3 equal
//     blocks; give ...
//
// The source location is that of the call in the program, which the named parameters of most calls
// capture.
//
// ```cpp
// std::vector<int> v(2 * world.size());
// try {
//   world.allreduce(send_buf(v), op(std::plus<>{}), send_count(v.size() + 1));
//   assert(false);
// } catch (const usage_error& e) {  // on all ranks: world can be used further
//   assert(e.operation() == "allreduce" && e.parameter() == "send_count");
//   assert(e.rank() == world.rank());
// }
// ```
#pragma once

#include <exception>
#include <source_location>
#include <string_view>

#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// The base of the exceptions of the library. what() is the whole text. Copies share the text.
class error : public std::exception {
 public:
  /// - `operation`: the call as the user wrote it ("allreduce").
  /// - `rank`: the rank that found the error (-1: none, for example before the ranks exist).
  /// - `parameter`: the named parameter at fault (empty: none).
  /// - `problem`: what is wrong with it.
  /// - `remedy`: what to do.
  /// - `at`: the source location of the call in the program (default: not known).
  error(std::string_view operation, int rank, std::string_view parameter, std::string_view problem,
        std::string_view remedy, const std::source_location& at = {});
  /// Shares the text; throws nothing.
  error(const error& other) noexcept;
  error& operator=(const error& other) noexcept;
  ~error() override;

  const char* what() const noexcept override;   ///< the whole text
  std::string_view operation() const noexcept;  ///< such as "iallreduce_single"
  std::string_view parameter() const noexcept;  ///< such as "send_buf"; empty: none
  /// The source location of the call, such as "sums.cpp:42": the file without its folders. Empty:
  /// not known.
  std::string_view location() const noexcept;
  int rank() const noexcept { return rank_; }  ///< the rank that found the error; -1: none

  /// For the library: adds the source location to an error that has none, on its way to the
  /// program. Throws bad_alloc.
  void locate(const std::source_location& at);

 private:
  struct texts;
  texts* texts_;
  int rank_;
};

/// This rank can see, before it sends anything, that a call is wrong. The call did nothing here.
class usage_error : public error {
 public:
  using error::error;
};

/// The ranks called different collectives. Checked mode finds this, or a message that does not
/// match.
class mismatch_error : public error {
 public:
  using error::error;
};

/// A message is longer than its buffer.
class truncation_error : public mismatch_error {
 public:
  using mismatch_error::mismatch_error;
};

/// All ranks wait for one another. The text says which rank waits where, for whom. Over MPI the
/// library detects this only with TUTTI_CHECK=1.
class deadlock_error : public error {
 public:
  using error::error;
};

/// Another rank failed, and the wait of this one was ended. Or another rank rejected its arguments.
/// It reported this in an exchange of counts or in checked mode, or this rank has received zeros
/// from it in an earlier call. The text names the rank that failed first.
class peer_error : public error {
 public:
  using error::error;
};

/// An engine does not exist, cannot start, or was lost. Or the node has no memory for a call.
class engine_error : public error {
 public:
  using error::error;
};

}  // namespace tutti
TUTTI_API_END

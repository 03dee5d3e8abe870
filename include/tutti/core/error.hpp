// SPDX-License-Identifier: Apache-2.0
//
// Errors. Each names the operation, the rank, the parameter and the remedy, so that the message alone is
// enough to mend the call:
//
//     tutti: alltoall on rank 0 at sums.cpp:42: send_buf: 7 elements cannot be cut into 3 equal blocks; give
//     ...
//
// The place is that of the call in the program, where the named parameters of most calls are written.
//
// ```cpp
// std::vector<int> v(2 * world.size());
// try {
//   world.allreduce(send_buf(v), op(std::plus<>{}), send_count(v.size() + 1));
//   assert(false);
// } catch (const usage_error& e) {  // on all ranks: world can be used further
//   assert(e.operation() == "allreduce" && e.parameter() == "send_count" && e.rank() == world.rank());
// }
// ```
#pragma once

#include <exception>
#include <source_location>
#include <string_view>

namespace tutti {

/// Base of the exceptions of the library. what() is the whole text. Copies share it.
class error : public std::exception {
 public:
  /// `operation` is the call as the user wrote it ("allreduce"), `rank` the rank that saw the fault (-1: no
  /// rank, as before the ranks exist), `parameter` the named parameter at fault (empty: none), `problem` what
  /// is wrong with it, `remedy` what to do, `at` the place of the call in the program (default: not known).
  error(std::string_view operation, int rank, std::string_view parameter, std::string_view problem,
        std::string_view remedy, const std::source_location& at = {});
  /// Shares the text; throws nothing.
  error(const error& other) noexcept;
  error& operator=(const error& other) noexcept;
  ~error() override;

  const char* what() const noexcept override;   ///< the whole text
  std::string_view operation() const noexcept;  ///< as "iallreduce_single"
  std::string_view parameter() const noexcept;  ///< as "send_buf"; empty: none
  /// The place of the call, as "sums.cpp:42": the file without its folders; empty: not known.
  std::string_view location() const noexcept;
  int rank() const noexcept { return rank_; }  ///< that saw the fault; -1: none

  /// For the library: gives the place to an error that has none, on its way to the program. Throws bad_alloc.
  void locate(const std::source_location& at);

 private:
  struct texts;
  texts* texts_;
  int rank_;
};

/// A call that this rank can see to be wrong before it sends anything. Nothing of the call was done here.
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

/// All ranks wait for one another. The text says who waits where, for whom. Over MPI it is looked for with
/// TUTTI_CHECK=1 only.
class deadlock_error : public error {
 public:
  using error::error;
};

/// Another rank failed, and this one was taken out of its wait; or it refused its arguments, and told so in
/// an exchange of counts or in checked mode. The text names the rank that failed first.
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

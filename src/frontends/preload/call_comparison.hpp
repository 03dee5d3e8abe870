// SPDX-License-Identifier: Apache-2.0
//
// Checked mode (TUTTI_CHECK=1): before a collective call, whoever carries it out, the ranks of its
// communicator tell one another what they call. The first difference is an error that names two ranks and
// what each calls. Nonblocking calls wait for nobody: what the others have said is looked at whenever this
// rank comes back.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "frontends/preload/arguments.hpp"
#include "frontends/preload/communicator_table.hpp"
#include "tutti/detail/abi.hpp"

namespace tutti::preload {

struct process;
struct compared_call;

/// Of the handle of a window or file, a pointer or an int; that of a file is odd.
template <class Handle>
std::uint64_t number_of(Handle handle) noexcept {
  std::uint64_t n = 0;
  if constexpr (std::is_pointer_v<Handle>)
    n = reinterpret_cast<std::uintptr_t>(handle);
  else
    n = static_cast<std::uint32_t>(handle);
  return n << 1 | (std::is_same_v<Handle, MPI_File> ? 1 : 0);
}

class comparisons {
 public:
  explicit comparisons(process& p);
  ~comparisons();
  comparisons(const comparisons&) = delete;
  comparisons& operator=(const comparisons&) = delete;

  /// This rank is about to make this call. Nothing: all ranks of the communicator call the same, or it is one
  /// whose ranks cannot be told, or `nonblocking`. Else what the call is to return: the communicator's error
  /// handler was called.
  std::optional<int> compare(const arguments& a, bool nonblocking);
  /// The same of a call that has no such arguments, as "MPI_Comm_dup".
  std::optional<int> compare(MPI_Comm comm, const char* call, bool nonblocking = false);
  /// A window or file with the ranks of `comm`; `what` is "a window". Its number is number_of() its handle.
  void keep(std::uint64_t number, MPI_Comm comm, const char* what);
  /// This rank is about to make a call of all its ranks.
  std::optional<int> compare_on(std::uint64_t number, const char* call);
  void drop(std::uint64_t number);
  /// MPI_Finalize, and what is left of nonblocking calls that others never made.
  void finish();

  /// In tutti's turn: looks at what has come.
  void go_on();
  /// Nonblocking calls whose comparison is not complete.
  std::size_t pending_calls() const noexcept { return all_.size(); }

 private:
  std::shared_ptr<known_communicator> served(MPI_Comm comm);
  std::optional<int> compare(std::unique_ptr<compared_call> what, bool nonblocking);
  void start(compared_call& o);
  void wait(compared_call& o);
  void agree_on_pairs(compared_call& o);
  int failed_begun(const compared_call& o) noexcept;
  void abandon();

  process& p_;
  struct object {
    std::shared_ptr<known_communicator> of;
    const char* what;
  };
  turns lock_;
  std::unordered_map<std::uint64_t, object> objects_;
  std::vector<std::unique_ptr<compared_call>> all_;  // nonblocking, in the order in which they were begun
};

}  // namespace tutti::preload

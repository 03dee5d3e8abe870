// SPDX-License-Identifier: Apache-2.0
//
// Checked mode (TUTTI_CHECK=1). Before a collective call, which tutti or MPI may run, the ranks of
// its communicator exchange their calls. The first difference is an error that names two ranks and
// their calls. Nonblocking calls do not wait. The data of the other ranks are examined whenever
// this rank enters the library again.
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

/// A number for the handle of a window or file, which is a pointer or an int. The number of a file
/// is odd.
template <class Handle>
std::uint64_t handle_id(Handle handle) noexcept {
  std::uint64_t n = 0;
  if constexpr (std::is_pointer_v<Handle>)
    n = reinterpret_cast<std::uintptr_t>(handle);
  else
    n = static_cast<std::uint32_t>(handle);
  return n << 1 | (std::is_same_v<Handle, MPI_File> ? 1 : 0);
}

class call_comparison {
 public:
  explicit call_comparison(process& p);
  ~call_comparison();
  call_comparison(const call_comparison&) = delete;
  call_comparison& operator=(const call_comparison&) = delete;

  /// Compares the call that this rank is about to make. Returns nothing if all ranks of the
  /// communicator make the same call, if tutti does not serve the communicator, or if
  /// `nonblocking`. Otherwise the error handler of the communicator was called, and the value is
  /// what the call must return.
  std::optional<int> compare(const arguments& a, bool nonblocking);
  /// The same for a call without such arguments, as "MPI_Comm_dup".
  std::optional<int> compare(MPI_Comm comm, const char* call, bool nonblocking = false);
  /// Registers a window or file with the ranks of `comm`; `what` is "a window". Its number is
  /// handle_id() its handle.
  void register_object(std::uint64_t id, MPI_Comm comm, const char* what);
  /// Compares a call of all its ranks that this rank is about to make.
  std::optional<int> compare_object_call(std::uint64_t id, const char* call);
  void unregister_object(std::uint64_t id);
  /// Called by MPI_Finalize. Also reports nonblocking calls that other ranks never made.
  void finish();

  /// Examines what has arrived. The caller must hold process::mutex.
  void progress();
  /// The number of nonblocking calls whose comparison is not complete.
  std::size_t pending() const noexcept { return all_.size(); }

 private:
  std::shared_ptr<communicator_info> find_served(MPI_Comm comm);
  std::optional<int> compare(std::unique_ptr<compared_call> what, bool nonblocking);
  void start(compared_call& o);
  void wait(compared_call& o);
  void compare_pairs(compared_call& o);
  int report_nonblocking_error(const compared_call& o) noexcept;
  void abandon();

  process& p_;
  struct object {
    std::shared_ptr<communicator_info> communicator;
    const char* what;
  };
  optional_mutex mutex_;
  std::unordered_map<std::uint64_t, object> objects_;
  // Nonblocking calls, in the order in which they were begun.
  std::vector<std::unique_ptr<compared_call>> all_;
};

}  // namespace tutti::preload

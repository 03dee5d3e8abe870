// SPDX-License-Identifier: Apache-2.0
//
// Validates the arguments of the program. Each function throws usage_error in the name of the
// operation. task_graph calls them before it changes anything.
#pragma once

#include <string_view>

#include "communicator/internal_calls.hpp"
#include "frontends/tasks/data_registry.hpp"

namespace tutti::tasks {

class call_validator {
 public:
  call_validator(detail::communicator_impl& ranks, const data_registry& data) noexcept
      : ranks_(ranks), data_(data), validate_thread_(ranks), size_(detail::size_of(ranks)) {}

  [[noreturn]] void reject(const char* operation, const char* parameter, std::string_view problem,
                           const char* remedy) const {
    detail::reject(ranks_, operation, parameter, problem, remedy);
  }
  /// The rank's own thread calls, and not from a kernel.
  void thread(const char* operation) const {
    if (shm::current_rank == &shm::kernel_identity) [[unlikely]]
      reject_kernel(operation);
    validate_thread_(operation);
  }
  /// The same for a call of the program. Throws peer_error also if a rejection of another rank is
  /// due.
  void entry(const char* operation) const {
    if (shm::current_rank == &shm::kernel_identity) [[unlikely]]
      reject_kernel(operation);
    validate_thread_.at_entry(operation);
  }
  /// `r` is a rank of the runtime.
  void rank(const char* operation, const char* parameter, int r) const {
    if (static_cast<unsigned>(r) >= static_cast<unsigned>(size_)) [[unlikely]]
      reject_rank(operation, parameter, r);
  }
  /// This runtime has made the data.
  void handle(const char* operation, const data_handle& d) const {
    if (!data_.has(d)) [[unlikely]]
      reject_handle(operation);
  }
  /// Whether the transfer may begin.
  void transfer(const char* operation, const explicit_transfer& t, bool sends) const;
  [[noreturn]] void reject_tag(const char* operation, long tag) const;
  [[noreturn]] void reject_used_tag(const char* operation, long tag) const;

 private:
  [[noreturn]] void reject_kernel(const char* operation) const;
  [[noreturn]] void reject_rank(const char* operation, const char* parameter, int r) const;
  [[noreturn]] void reject_handle(const char* operation) const;

  detail::communicator_impl& ranks_;
  const data_registry& data_;
  detail::thread_validation validate_thread_;
  int size_;
};

}  // namespace tutti::tasks

// SPDX-License-Identifier: Apache-2.0
//
// The collectives that the library runs for itself on a communicator: what checked mode compares,
// and what ranks agree on when they make a communicator. checked_mode and group_factory use
// them; call_dispatcher implements them. Between two groups they run on the union of both.
#pragma once

#include <cstddef>

#include "tutti/call.hpp"

namespace tutti::detail {

class control_calls {
 public:
  /// Executes a valid call, which is neither checked nor cached.
  virtual void run_control(const call& c) = 0;

  /// One element of `bytes` bytes for each rank. `all` receives the elements of an allgather, or of
  /// an alltoall, in the order of ranks. Reports name the user's operation.
  void exchange(collective what, const void* mine, void* all, std::size_t bytes, const char* operation,
                const char* algorithm = nullptr) {
    call c;
    c.what = what;
    c.type = {bytes, element_kind::opaque, {}};
    c.count = 1;
    c.input = mine;
    c.output = all;
    c.label = operation;
    c.on_behalf = call::before_call;
    c.algorithm = algorithm;
    run_control(c);
  }
  /// Rank 0 sends `bytes` bytes.
  void bcast(void* data, std::size_t bytes, const char* operation) {
    call c;
    c.what = collective::bcast;
    c.type = element_of<std::byte>();
    c.count = bytes;
    c.input = c.output = data;
    c.label = operation;
    c.on_behalf = call::before_call;
    run_control(c);
  }

 protected:
  ~control_calls() = default;
};

}  // namespace tutti::detail

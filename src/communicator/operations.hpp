// SPDX-License-Identifier: Apache-2.0
//
// Functions that collectives and messages under way share. Their owners end their use, and complete
// ones are reused.
#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <vector>

#include "transport/endpoint.hpp"
#include "tutti/detail/owner.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

/// Ends the use of an operation, for dismiss(): waits for it. During stack unwinding it tries for a
/// tenth of a second and then ends the job, since other ranks may be reading its buffers.
template <class One>
void end_use(One& one, endpoint& ep, const char* operation, int rank) noexcept {
  try {
    if (std::uncaught_exceptions() == 0) return one.wait();
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(100);
    bool over = one.test();
    while (!over && std::chrono::steady_clock::now() < end) over = one.test();
    if (!over)
      ep.abandon(std::make_exception_ptr(
          error(operation, rank, "", "an exception unwound this rank while the call was in progress", "")));
  } catch (...) {
    // The job is failing, or a message was rejected. An explicit wait reports it.
  }
}

/// A complete operation of an earlier call, or a new one.
template <class One, class Where>
owner<One> idle_or_new(std::vector<One*>& idle, std::size_t max_idle, Where& where) {
  if (idle.capacity() == 0) idle.reserve(max_idle);
  if (idle.empty()) return owner<One>(new One(where));
  One* const one = idle.back();
  idle.pop_back();
  return owner<One>(one);
}

}  // namespace tutti::detail

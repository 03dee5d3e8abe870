// SPDX-License-Identifier: Apache-2.0
//
// Reports a stack overflow of a rank before SIGSEGV ends the process.
#pragma once

#include <cstddef>
#include <memory>

namespace tutti::detail {

/// While an object of this class exists, the library handles SIGSEGV and SIGBUS, unless the program
/// has its own handler. The handler reports an access to the guard of a rank's stack. Then, as in
/// every other case, the signal has its default effect.
class overflow_handler {
 public:
  overflow_handler();
  ~overflow_handler();
  overflow_handler(const overflow_handler&) = delete;
  overflow_handler& operator=(const overflow_handler&) = delete;
};

/// Registers the guards of the stacks that the calling thread uses. Gives the thread a signal stack
/// if it has none.
class watched_stack {
 public:
  /// For the thread's own stack.
  watched_stack();
  /// For a mapping of stacks in which only the guards are not writable.
  watched_stack(const std::byte* begin, const std::byte* end);
  ~watched_stack();
  watched_stack(const watched_stack&) = delete;
  watched_stack& operator=(const watched_stack&) = delete;

 private:
  const std::byte *previous_begin_, *previous_end_;
  std::unique_ptr<std::byte[]> signal_stack_;
};

}  // namespace tutti::detail

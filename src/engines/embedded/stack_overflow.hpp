// SPDX-License-Identifier: Apache-2.0
//
// A rank that outgrows its stack says so before the process ends by SIGSEGV.
#pragma once

#include <cstddef>
#include <memory>

namespace tutti {

/// While one lives, SIGSEGV and SIGBUS are handled, if the program has no handler of its own: an
/// access to the guard of a rank's stack is reported, and then, as in every other case, the signal
/// has its default effect.
class overflow_reports {
 public:
  overflow_reports();
  ~overflow_reports();
  overflow_reports(const overflow_reports&) = delete;
  overflow_reports& operator=(const overflow_reports&) = delete;
};

/// Tells the handler which addresses are guards of stacks that the calling thread uses, and gives
/// the thread a stack for signals, where it has none.
class watched_stack {
 public:
  /// The thread's own stack.
  watched_stack();
  /// A mapping of stacks, in which nothing but their guards cannot be written.
  watched_stack(const std::byte* begin, const std::byte* end);
  ~watched_stack();
  watched_stack(const watched_stack&) = delete;
  watched_stack& operator=(const watched_stack&) = delete;

 private:
  const std::byte *begin_before_, *end_before_;
  std::unique_ptr<std::byte[]> signal_stack_;
};

}  // namespace tutti

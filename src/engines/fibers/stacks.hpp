// SPDX-License-Identifier: Apache-2.0
//
// Stacks for all fibers of a job, in one mapping: address space now, memory when touched, and a page that
// faults below each.
#pragma once

#include <cstddef>

namespace tutti {

class stacks {
 public:
  /// Throws engine_error where the machine does not give so much address space.
  stacks(int count, std::size_t bytes_each);
  ~stacks();
  stacks(const stacks&) = delete;
  stacks& operator=(const stacks&) = delete;

  /// The high end of stack i, from which it grows down. Ends are shifted by a few lines from one fiber to the
  /// next, since stacks that all begin at the same offset in a page compete for the same lines of a cache.
  void* top(int i) const noexcept;
  void* bottom(int i) const noexcept;
  std::size_t usable(int i) const noexcept;

 private:
  std::byte* memory_ = nullptr;
  std::size_t each_ = 0, page_ = 0, total_ = 0;
  bool guarded_ = true;
};

}  // namespace tutti

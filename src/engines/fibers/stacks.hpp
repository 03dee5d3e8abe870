// SPDX-License-Identifier: Apache-2.0
//
// Stacks for all fibers of a job, in one mapping: address space now, memory when touched, and below
// each a guard that faults.
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

  /// All of them.
  const std::byte* begin() const noexcept { return memory_; }
  const std::byte* end() const noexcept { return memory_ + total_; }
  /// How many have a guard, the first ones: all, unless the kernel is too old for so many.
  int guarded() const noexcept { return guarded_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t each_ = 0, guard_ = 0, total_ = 0;
  int guarded_ = 0;
};

}  // namespace tutti

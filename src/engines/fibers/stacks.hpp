// SPDX-License-Identifier: Apache-2.0
//
// The stacks of all fibers of a job, in one mapping. It reserves address space; the kernel provides
// memory on first access. Below each stack is a guard that faults.
#pragma once

#include <cstddef>

namespace tutti::detail {

class stacks {
 public:
  /// Throws engine_error if the system does not provide that much address space.
  stacks(int count, std::size_t bytes_each);
  ~stacks();
  stacks(const stacks&) = delete;
  stacks& operator=(const stacks&) = delete;

  /// The high end of stack i, from which it grows down. Each end is shifted by a few cache lines.
  /// Otherwise all stacks would begin at the same offset in a page and compete for the same cache
  /// sets.
  void* top(int i) const noexcept;
  void* bottom(int i) const noexcept;
  std::size_t usable(int i) const noexcept;

  /// The whole mapping.
  const std::byte* begin() const noexcept { return memory_; }
  const std::byte* end() const noexcept { return memory_ + total_; }
  /// The number of stacks with a guard, which are the first ones. All have one, unless an older
  /// kernel allows fewer.
  int guarded() const noexcept { return guarded_; }

 private:
  std::byte* memory_ = nullptr;
  std::size_t each_ = 0, guard_ = 0, total_ = 0;
  int guarded_ = 0;
};

}  // namespace tutti::detail

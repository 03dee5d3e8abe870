// SPDX-License-Identifier: Apache-2.0
//
// Memory for measurements: whole cache lines, first touched by the caller.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

namespace bench {

struct free_memory {
  void operator()(double* memory) const { std::free(memory); }
};

inline std::unique_ptr<double, free_memory> allocate(std::size_t elements) {
  const std::size_t bytes = (std::max<std::size_t>(1, elements) * sizeof(double) + 63) / 64 * 64;
  auto* memory = static_cast<double*>(std::aligned_alloc(64, bytes));
  if (memory == nullptr) throw std::bad_alloc();
  // First touch: the pages belong to the rank that uses them.
  std::fill_n(memory, bytes / sizeof(double), 0.0);
  return std::unique_ptr<double, free_memory>(memory);
}

}  // namespace bench

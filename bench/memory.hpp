// SPDX-License-Identifier: Apache-2.0
//
// Memory for measurements: whole cache lines, first touched by the caller. A side of `compare` may
// provide its own.
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

// The memory of Side::allocate_shared(bytes), which returns null if there is none.
template <class Side>
struct free_shared_memory {
  void operator()(double* memory) const { Side::free_shared(memory); }
};

template <class Side>
std::unique_ptr<double, free_shared_memory<Side>> allocate_shared(std::size_t elements) {
  const std::size_t lines = std::max<std::size_t>(1, (elements + 7) / 8);
  double* const memory = Side::allocate_shared(lines * 64);
  if (memory == nullptr) throw std::bad_alloc();
  std::fill_n(memory, lines * 8, 0.0);
  return std::unique_ptr<double, free_shared_memory<Side>>(memory);
}

}  // namespace bench

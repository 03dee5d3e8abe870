// SPDX-License-Identifier: Apache-2.0
//
// Memory for what is measured: whole cache lines, touched by whoever asks for it.
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
  std::fill_n(memory, bytes / sizeof(double), 0.0);  // the pages are those of the rank that uses them
  return std::unique_ptr<double, free_memory>(memory);
}

}  // namespace bench

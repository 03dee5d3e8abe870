// SPDX-License-Identifier: Apache-2.0
//
// Memory for measurements: whole cache lines, first touched by the caller.
//
// malloc maps long memory for the caller alone, as in a new process. Otherwise it would return
// pages of earlier buffers, whose sizes then decide whether the pages are huge. Memory that is
// longer than a huge page begins with one, as in newer kernels. Otherwise the addresses, which
// differ from program to program, would decide how many pages are huge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include <malloc.h>

namespace tutti::tuning {

struct free_memory {
  void operator()(double* memory) const { std::free(memory); }
};
using buffer_memory = std::unique_ptr<double, free_memory>;

inline buffer_memory allocate(std::size_t elements) {
  constexpr std::size_t line = 64, kib = 1024, huge_page = 2048 * kib;
  mallopt(M_MMAP_THRESHOLD, 128 * kib);  // the initial value, which malloc changes unless it is set
  const std::size_t bytes = (std::max<std::size_t>(1, elements) * sizeof(double) + line - 1) / line * line;
  void* memory = nullptr;
  if (posix_memalign(&memory, bytes >= huge_page ? huge_page : line, bytes) != 0) throw std::bad_alloc();
  buffer_memory owner(static_cast<double*>(memory));
  // First touch: the pages belong to the rank that uses them.
  std::fill_n(owner.get(), bytes / sizeof(double), 0.0);
  return owner;
}

}  // namespace tutti::tuning

// SPDX-License-Identifier: Apache-2.0
//
// Memory for measurements: whole cache lines, first touched by the caller. A side of `compare` may
// provide its own.
//
// Long memory is mapped for the caller alone, as malloc does in a new process. malloc itself would
// return pages of earlier buffers, whose sizes then decide whether the pages are huge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include <sys/mman.h>

namespace bench {

struct free_memory {
  std::size_t mapped = 0;  // bytes of a mapping, or 0 for memory of malloc
  void operator()(double* memory) const {
    if (mapped == 0)
      std::free(memory);
    else
      munmap(memory, mapped);
  }
};

inline std::unique_ptr<double, free_memory> allocate(std::size_t elements) {
  const std::size_t bytes = (std::max<std::size_t>(1, elements) * sizeof(double) + 63) / 64 * 64;
  constexpr std::size_t long_memory = std::size_t{128} << 10;  // the limit of glibc's malloc
  void* memory = nullptr;
  if (bytes < long_memory) {
    memory = std::aligned_alloc(64, bytes);
  } else {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) memory = nullptr;
  }
  if (memory == nullptr) throw std::bad_alloc();
  std::unique_ptr<double, free_memory> owner(static_cast<double*>(memory),
                                             {.mapped = bytes < long_memory ? 0 : bytes});
  // First touch: the pages belong to the rank that uses them.
  std::fill_n(owner.get(), bytes / sizeof(double), 0.0);
  return owner;
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

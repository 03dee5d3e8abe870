// SPDX-License-Identifier: Apache-2.0
//
// Memory for measurements: whole cache lines, first touched by the caller. A side of `compare` may
// provide its own.
//
// Long memory is mapped for the caller alone, as malloc does in a new process. malloc itself would
// return pages of earlier buffers, whose sizes then decide whether the pages are huge. A mapping
// that is longer than a huge page begins with one, as in newer kernels. Otherwise the addresses,
// which differ from program to program, would decide how many pages are huge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <new>

#include <sys/mman.h>

namespace bench {

struct free_memory {
  void* mapping = nullptr;  // null: memory of malloc
  std::size_t mapped_bytes = 0;
  void operator()(double* memory) const {
    if (mapping == nullptr)
      std::free(memory);
    else
      munmap(mapping, mapped_bytes);
  }
};

inline std::unique_ptr<double, free_memory> allocate(std::size_t elements) {
  constexpr std::size_t kib = 1024;
  constexpr std::size_t long_memory = 128 * kib;  // the limit of glibc's malloc
  constexpr std::size_t huge_page = 2048 * kib;
  const std::size_t bytes = (std::max<std::size_t>(1, elements) * sizeof(double) + 63) / 64 * 64;
  void* memory = nullptr;
  free_memory end;
  if (bytes < long_memory) {
    memory = std::aligned_alloc(64, bytes);
  } else {
    std::size_t space = bytes >= huge_page ? bytes + huge_page : bytes;
    memory = mmap(nullptr, space, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    end = {.mapping = memory, .mapped_bytes = space};
    if (bytes >= huge_page) std::align(huge_page, bytes, memory, space);
  }
  if (memory == nullptr) throw std::bad_alloc();
  std::unique_ptr<double, free_memory> owner(static_cast<double*>(memory), end);
  // First touch: the pages belong to the rank that uses them.
  std::fill_n(owner.get(), bytes / sizeof(double), 0.0);
  return owner;
}

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

// SPDX-License-Identifier: Apache-2.0
//
// Memory for measurements: src/tuning/buffer_memory.hpp, or what a side of `compare` provides,
// which other processes can map.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <new>

#include "tuning/buffer_memory.hpp"

namespace bench {

using tutti::tuning::allocate;
using tutti::tuning::free_memory;

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

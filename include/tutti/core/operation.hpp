// SPDX-License-Identifier: Apache-2.0
//
// A reduction operator without its type: how to combine n elements, and what may be assumed about it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tutti {

/// Operators that the library and MPI know by name. `user` is any other callable.
enum class builtin_op : std::uint8_t {
  user,
  sum,
  product,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  logical_and,
  logical_or,
  logical_xor
};

/// `result[i] = left[i] op right[i]` for i in 0 .. n-1. `result` may be `left` or `right` itself, but may not
/// overlap them otherwise.
using combine_function = void (*)(const void* left, const void* right, void* result, std::size_t n,
                                  void* state);

/// A type-erased operator. It refers to the callable's state, it does not own it.
struct operation {
  combine_function combine = nullptr;
  void* state = nullptr;
  builtin_op which = builtin_op::user;
  bool commutative = false;
  std::uint8_t unused[6] = {};  ///< no hole: calls are compared word by word
};

}  // namespace tutti

// SPDX-License-Identifier: Apache-2.0
//
// A reduction operator without its type: how to combine n elements, and which properties hold. op()
// (ops.hpp) makes it from a callable; a front end for another language makes it by hand:
//
// ```cpp
// operation longer;  // of two lengths, the greater
// longer.combine = [](const void* left, const void* right, void* result, std::size_t n, void*) {
//   for (std::size_t i = 0; i < n; ++i)
//     static_cast<int*>(result)[i] =
//         std::max(static_cast<const int*>(left)[i], static_cast<const int*>(right)[i]);
// };
// longer.commutative = true;
// ```
#pragma once

#include <cstddef>
#include <cstdint>

#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// The operators that the library and MPI know by name. `user` is any other callable.
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

/// `result[i] = left[i] op right[i]` for i in 0 .. n-1. `result` may be `left` or `right` itself,
/// but must not overlap them otherwise.
using combine_function = void (*)(const void* left, const void* right, void* result, std::size_t n,
                                  void* state);

/// A type-erased operator. It refers to the state of the callable and does not own it.
struct operation {
  combine_function combine = nullptr;   ///< never null in a call that combines
  void* state = nullptr;                ///< its last argument
  builtin_op which = builtin_op::user;  ///< known: a faster loop, or MPI, may replace `combine`
  bool commutative = false;             ///< false: operands are combined in the order of ranks
  std::uint8_t unused[6] = {};          ///< no padding: calls are compared word by word
};

}  // namespace tutti
TUTTI_API_END

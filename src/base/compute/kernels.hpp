// SPDX-License-Identifier: Apache-2.0
//
// The loops that move and combine bytes: one kernel for each built-in operator and element kind, and a copy.
#pragma once

#include <cstddef>
#include <cstring>

#include "tutti/element.hpp"
#include "tutti/operation.hpp"

namespace tutti::compute {

/// The kernel of a built-in operator; null where the operator does not fit the kind (bit_and of f64).
combine_function kernel(builtin_op op, element_kind kind) noexcept;

/// memcpy, but with a single move for the sizes of a single value. Ranges must not overlap, unless they are
/// the same.
inline void copy(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else if (bytes != 0) {
    std::memmove(to, from, bytes);
  }
}

/// For results too large to be read again soon: writes past the caches where the machine can.
void copy_streaming(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace tutti::compute

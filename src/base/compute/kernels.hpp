// SPDX-License-Identifier: Apache-2.0
//
// The loops that copy and combine bytes: one kernel for each built-in operator and element kind.
#pragma once

#include <cstddef>
#include <cstring>

#include "tutti/element.hpp"
#include "tutti/operation.hpp"

namespace tutti::compute {

/// The kernel of a built-in operator. Null if the operator does not apply to the kind, for example
/// bit_and to f64.
combine_function kernel(builtin_op op, element_kind kind) noexcept;

/// Copies like memmove, with a single move for 8 bytes. The ranges must not overlap, unless they
/// are equal.
inline void copy(void* to, const void* from, std::size_t bytes) noexcept {
  if (bytes == 8) {
    std::memcpy(to, from, 8);
  } else if (bytes != 0) {
    std::memmove(to, from, bytes);
  }
}

/// For results too large to be read again soon. Bypasses the caches on x86-64.
void copy_streaming(void* to, const void* from, std::size_t bytes) noexcept;

}  // namespace tutti::compute

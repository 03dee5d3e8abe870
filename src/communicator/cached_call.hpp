// SPDX-License-Identifier: Apache-2.0
//
// Pieces that every warm call consists of, however it is told from the last one (cached_call.cpp,
// repeat_call.cpp).
#pragma once

#include "communicator/communicator_impl.hpp"

namespace tutti::detail {

// Which pointers there are, and whether the buffers are one.
inline std::uint8_t communicator_impl::pointers_of(const void* input, const void* output,
                                                   combine_function combine) noexcept {
  return static_cast<std::uint8_t>((input != nullptr) | (output != nullptr) << 1 | (input == output) << 2 |
                                   (combine != nullptr) << 3);
}

// Two buffers are the usual case, and quickly told; then the operator is taken to be there as it was before.
[[gnu::always_inline]] inline bool communicator_impl::same_pointers(const void* input, const void* output,
                                                                    combine_function combine,
                                                                    const cached_call& r) noexcept {
  if (r.two) [[likely]]
    return input != nullptr && output != nullptr && input != output;
  return r.pointers == pointers_of(input, output, combine);
}

// The engine's own collective, by what it has made ready.
[[gnu::always_inline]] inline void communicator_impl::run_ready(cached_call& r, const void* input,
                                                                void* output) {
  ++next_;
  guarded([&] { r.go(r.kept->ready, input, output, r.count); });
}

}  // namespace tutti::detail

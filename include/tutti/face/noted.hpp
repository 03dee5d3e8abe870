// SPDX-License-Identifier: Apache-2.0
//
// The place of a call, found among its arguments and noted for reports (core/place.hpp).
#pragma once

#include "tutti/face/argument.hpp"

namespace tutti::detail {

// Buffers are asked first: ranks and tags may be made on behalf of the program.
template <bool Buffers, class First, class... Rest>
[[gnu::always_inline]] constexpr std::source_location place_among(const First& first, const Rest&... rest) {
  if constexpr (placed<First> && (!Buffers || is_buffer(parameter_of<First>)))
    return first.at;
  else
    return place_among<Buffers>(rest...);
}
/// What the first buffer says, or else the first argument that knows where it is written.
template <class... Args>
[[gnu::always_inline]] constexpr std::source_location first_place(const Args&... args) noexcept {
  if constexpr ((is_buffer(parameter_of<Args>) || ...))
    return place_among<true>(args...);
  else if constexpr ((placed<Args> || ...))
    return place_among<false>(args...);
  else
    return {};
}

/// Notes where a call is written. Without arguments the call itself has noted it.
template <class... Args>
[[gnu::always_inline]] inline void note_call(core& c, const Args&... args) noexcept {
  if constexpr (sizeof...(Args) > 0) note_place(c, first_place(args...));
}

}  // namespace tutti::detail

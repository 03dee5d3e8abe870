// SPDX-License-Identifier: Apache-2.0
//
// The source location of a call, taken from its arguments and noted for reports
// (detail/call_site.hpp).
#pragma once

#include "tutti/detail/argument.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

// Buffers take precedence, since code of the library may have created the ranks and tags.
template <bool Buffers, class First, class... Rest>
[[gnu::always_inline]] constexpr std::source_location location_among(const First& first,
                                                                     const Rest&... rest) {
  if constexpr (has_location<First> && (!Buffers || is_buffer(parameter_of<First>)))
    return first.at;
  else
    return location_among<Buffers>(rest...);
}
/// The location of the first buffer, else of the first argument that has one.
template <class... Args>
[[gnu::always_inline]] constexpr std::source_location first_location(const Args&... args) noexcept {
  if constexpr ((is_buffer(parameter_of<Args>) || ...))
    return location_among<true>(args...);
  else if constexpr ((has_location<Args> || ...))
    return location_among<false>(args...);
  else
    return {};
}

/// Notes the source location of a call. A call without arguments notes its own (collectives.hpp).
template <class... Args>
[[gnu::always_inline]] inline void note_call(communicator_impl& c, const Args&... args) noexcept {
  if constexpr (sizeof...(Args) > 0) set_call_site(c, first_location(args...));
}

}  // namespace tutti::detail
TUTTI_API_END

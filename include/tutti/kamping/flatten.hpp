// SPDX-License-Identifier: Apache-2.0
//
// Nested containers as one buffer: flatten.hpp with numbers of ranks of any integer type. Also the levels of
// assertions, which are accepted and change nothing: what tutti checks, it checks always.
#pragma once

#include <concepts>

#include "tutti/flatten.hpp"

namespace kamping {

/// `with_flattened(nested, comm.size()).call([&](auto... flat) { return comm.alltoallv(std::move(flat)...);
/// })`
template <class Nested>
auto with_flattened(const Nested& nested, std::integral auto size) {
  return tutti::flatten(nested, static_cast<int>(size));
}
template <class Nested>
auto flatten(const Nested& nested, std::integral auto size) {
  return tutti::flatten(nested, static_cast<int>(size));
}
using tutti::unflatten;

namespace assert {
inline constexpr int exceptions = 10;
inline constexpr int light = 20;
inline constexpr int normal = 30;
inline constexpr int light_communication = 40;
inline constexpr int heavy_communication = 50;
inline constexpr int heavy = 60;
}  // namespace assert

}  // namespace kamping

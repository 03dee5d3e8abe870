// SPDX-License-Identifier: Apache-2.0
//
// Nested containers as one buffer (flatten.hpp, with ranks of any integer type), and checked
// integer casts. It also has the assertion levels, which are accepted and change nothing: tutti
// always checks what it checks.
#pragma once

#include <concepts>
#include <stdexcept>
#include <utility>

#include "tutti/flatten.hpp"

namespace kamping {

/// `with_flattened(nested, comm.size()).call([&](auto... flat) { return
/// comm.alltoallv(std::move(flat)...); })`
template <class Nested>
auto with_flattened(const Nested& nested, std::integral auto size) {
  return tutti::flatten(nested, static_cast<int>(size));
}
template <class Nested>
auto flatten(const Nested& nested, std::integral auto size) {
  return tutti::flatten(nested, static_cast<int>(size));
}
/// The same for a range of containers, one for each rank.
template <class Nested>
auto with_flattened(const Nested& nested) {
  static_assert(!tutti::detail::keyed<std::remove_cvref_t<decltype(*nested.begin())>>,
                "with_flattened, flatten: pairs of a rank and a container need the number of ranks: "
                "flatten(nested, comm.size())");
  std::size_t ranks = 0;
  for (auto at = nested.begin(); at != nested.end(); ++at) ++ranks;
  return tutti::flatten(nested, static_cast<int>(ranks));
}
template <class Nested>
auto flatten(const Nested& nested) {
  return with_flattened(nested);
}
/// It accepts KaMPIng's container type for the counts; they are a std::vector<std::size_t>.
template <template <class...> class Counts, class Nested, class... Size>
auto with_flattened(const Nested& nested, Size... size) {
  return with_flattened(nested, size...);
}
template <template <class...> class Counts, class Nested, class... Size>
auto flatten(const Nested& nested, Size... size) {
  return with_flattened(nested, size...);
}
using tutti::unflatten;

/// Whether a To can represent value.
template <std::integral To, std::integral From>
constexpr bool in_range(From value) noexcept {
  const To converted = static_cast<To>(value);
  return static_cast<From>(converted) == value && (converted < To{}) == (value < From{});
}
/// The value as a To. Throws std::range_error if a To cannot represent it.
template <std::integral To, std::integral From>
constexpr To throwing_cast(From value) {
  if (!in_range<To>(value))
    throw std::range_error("an integer is out of the range of the type it is cast to");
  return static_cast<To>(value);
}
/// The same: what KaMPIng asserts is always checked here.
template <std::integral To, std::integral From>
constexpr To asserting_cast(From value) {
  return throwing_cast<To>(value);
}

namespace assert {
inline constexpr int exceptions = 10;
inline constexpr int light = 20;
inline constexpr int normal = 30;
inline constexpr int light_communication = 40;
inline constexpr int heavy_communication = 50;
inline constexpr int heavy = 60;
}  // namespace assert

}  // namespace kamping

// SPDX-License-Identifier: Apache-2.0
//
// The description of one element inside the library: its size, and its kind if the library can
// compute with it.
//
// ```cpp
// struct point {
//   float x, y;
// };
// static_assert(element_of<int>() == element{sizeof(int), element_kind::i32, {}});
// static_assert(element_of<point>().kind == element_kind::opaque);  // no built-in operator
// ```
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// The arithmetic kinds that built-in operators know. All other types travel as `opaque` bytes.
enum class element_kind : std::uint8_t {
  opaque,
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f32,
  f64,
  f80,
  boolean
};

/// One element: `size` contiguous bytes.
struct element {
  std::size_t size = 1;                      ///< bytes
  element_kind kind = element_kind::opaque;  ///< what operators can do with it
  std::uint8_t unused[7] = {};               ///< no padding: calls are compared word by word

  /// Whether both have the same size and kind.
  friend constexpr bool operator==(const element& a, const element& b) {
    return a.size == b.size && a.kind == b.kind;
  }
};

/// The element of a C++ type. Integers up to 8 bytes map by size and sign, whatever their name;
/// float, double, long double and bool have their own kinds. All other types, including
/// enumerations, are opaque.
template <class T>
constexpr element element_of() noexcept {
  using value = std::remove_cv_t<T>;
  element_kind kind = element_kind::opaque;
  if constexpr (std::is_same_v<value, bool>) {
    kind = element_kind::boolean;
  } else if constexpr (std::is_integral_v<value>) {
    constexpr bool is_signed = std::is_signed_v<value>;
    switch (sizeof(value)) {
      case 1:
        kind = is_signed ? element_kind::i8 : element_kind::u8;
        break;
      case 2:
        kind = is_signed ? element_kind::i16 : element_kind::u16;
        break;
      case 4:
        kind = is_signed ? element_kind::i32 : element_kind::u32;
        break;
      case 8:
        kind = is_signed ? element_kind::i64 : element_kind::u64;
        break;
      default:
        break;
    }
  } else if constexpr (std::is_same_v<value, float>) {
    kind = element_kind::f32;
  } else if constexpr (std::is_same_v<value, double>) {
    kind = element_kind::f64;
  } else if constexpr (std::is_same_v<value, long double>) {
    kind = element_kind::f80;
  }
  return {sizeof(value), kind, {}};
}

}  // namespace tutti
TUTTI_API_END

// SPDX-License-Identifier: Apache-2.0
//
// What one element is, as the lower rooms see it: a size, and a kind where the library can compute with it.
//
// ```cpp
// struct point {
//   float x, y;
// };
// static_assert(element_of<int>() == element{sizeof(int), element_kind::i32, {}});
// static_assert(element_of<point>().kind == element_kind::opaque);  // no built-in operator knows it
// ```
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tutti {

/// The arithmetic kinds that built-in operators know. Everything else travels as `opaque` bytes.
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

/// One element: `size` bytes, contiguous.
struct element {
  std::size_t size = 1;                      ///< bytes
  element_kind kind = element_kind::opaque;  ///< what operators can do with it
  std::uint8_t unused[7] = {};               ///< no hole: calls are compared word by word

  /// Whether both have one size and one kind.
  friend constexpr bool operator==(const element& a, const element& b) {
    return a.size == b.size && a.kind == b.kind;
  }
};

/// The element that a C++ type is: integers up to 8 bytes by size and sign, whatever they are called, float,
/// double, long double and bool; all else, enumerations too, is opaque.
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

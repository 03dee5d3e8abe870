// SPDX-License-Identifier: Apache-2.0
//
// The operators of the cases, below the C++ API, and the values of each rank.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "support/affine.hpp"
#include "tutti/call.hpp"

namespace tests {

using namespace tutti;
using namespace tutti::detail;

/// Kinds of operators: commutative, order-dependent, known to the library with a kernel of its own,
/// and a lambda with a capture.
enum class kind { commuting, ordered, builtin, lambda };
inline constexpr kind kinds[] = {kind::commuting, kind::ordered, kind::builtin, kind::lambda};
inline constexpr const char* kind_names[] = {"commuting", "ordered", "builtin", "lambda"};

template <class T>
T combined(T l, T r, kind k) {
  if constexpr (std::is_same_v<T, affine>) {
    if (k == kind::ordered) return compose(l, r);
    return {l.a + r.a, l.b + r.b};
  } else {
    return static_cast<T>(l + r);
  }
}
template <class T, kind K>
void combine_all(const void* l, const void* r, void* out, std::size_t n, void*) {
  for (std::size_t i = 0; i < n; ++i)
    static_cast<T*>(out)[i] = combined(static_cast<const T*>(l)[i], static_cast<const T*>(r)[i], K);
}
// The state is the capture of a lambda: a factor of one. A lost pointer would give another factor.
template <class T>
void combine_with_state(const void* l, const void* r, void* out, std::size_t n, void* state) {
  const std::uint64_t one = *static_cast<std::uint64_t*>(state);
  for (std::size_t i = 0; i < n; ++i) {
    T sum = combined(static_cast<const T*>(l)[i], static_cast<const T*>(r)[i], kind::lambda);
    if constexpr (std::is_same_v<T, affine>)
      sum.a *= one, sum.b *= one;
    else
      sum = static_cast<T>(sum * static_cast<T>(one));
    static_cast<T*>(out)[i] = sum;
  }
}
template <class T>
operation operator_of(kind k) {
  static std::uint64_t one = 1;
  switch (k) {
    case kind::commuting:
      return {combine_all<T, kind::commuting>, nullptr, builtin_op::user, true};
    case kind::ordered:
      return {combine_all<T, kind::ordered>, nullptr, builtin_op::user, false};
    case kind::builtin:
      return {combine_all<T, kind::builtin>, nullptr, builtin_op::sum, true};
    default:
      return {combine_with_state<T>, &one, builtin_op::user, true};
  }
}

template <class T>
T value(int rank, std::size_t i) {
  if constexpr (std::is_same_v<T, affine>)
    return {2 * (static_cast<std::uint64_t>(rank) * 1000003u + i) + 1,
            i * 7u + static_cast<std::uint64_t>(rank)};
  else
    return static_cast<T>(static_cast<std::uint64_t>(rank) * 37u + i * 11u + 1);
}
template <class T>
inline constexpr T canary = T{0x5e};
template <>
inline constexpr affine canary<affine> = {0xdeadbeef, 0xfeed};

}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
//
// Tests whether all ranks have the same value, for assertions and before a decision that all ranks
// must take alike. tutti.hpp does not include this header.
#pragma once

#include <source_location>
#include <type_traits>

#include "tutti/communicator.hpp"
#include "tutti/detail/call_site.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

/// A value, and whether all values that were combined into it are equal.
template <class T>
struct agreement {
  T value;
  bool same;
};

/// Whether n elements equal n others.
using equal_function = bool (*)(const void* a, const void* b, std::size_t n);

/// Collective: compares n elements of `bytes` bytes each with those of rank 0, whose number may
/// differ.
bool same_range(const communicator& ranks, const void* data, std::size_t n, std::size_t bytes,
                equal_function equal);

template <class T>
bool equal_elements(const void* a, const void* b, std::size_t n) {
  const T* left = static_cast<const T*>(a);
  const T* right = static_cast<const T*>(b);
  for (std::size_t i = 0; i < n; ++i)
    if (!(left[i] == right[i])) return false;
  return true;
}

}  // namespace detail

/// Collective: whether all ranks pass equal values, by the == of their type. Returns the same
/// answer on all ranks.
///
/// A value is of a trivially copyable type with ==, or a contiguous range of such a type. Examples
/// of ranges are std::vector, std::span, std::string and an array. Ranges of different lengths
/// differ, and empty ranges are equal. The answer is exact: the call compares elements, not hashes.
/// The == of floating-point types applies: 0.0 equals -0.0, and a NaN does not even equal itself
/// (on one rank too). To compare bits, pass the numbers as integers (std::bit_cast).
///
/// Costs for a value: one allreduce of it and a bool. Costs for n elements: an allreduce of 16
/// bytes. If all lengths are equal, bcasts of n elements in pieces of about 1 MiB follow, and an
/// allreduce of a bool. It allocates memory for the pieces. Throws the errors of these collectives.
///
/// ```cpp
/// #include <tutti/same.hpp>
/// assert(is_same_on_all_ranks(world, world.size()));
/// assert(is_same_on_all_ranks(world, std::string("mode=fast")));
/// assert(is_same_on_all_ranks(world, world.rank()) == (world.size() == 1));
/// ```
template <class Value>
bool is_same_on_all_ranks(const communicator& ranks, const Value& value,
                          std::source_location at = std::source_location::current()) {
  const detail::enclosing_call scope(detail::impl_of(ranks), "is_same_on_all_ranks", at);
  constexpr detail::argument_shape kind = detail::argument_shape_of<const Value>();
  static_assert(kind != detail::argument_shape::scattered,
                "is_same_on_all_ranks: this container is not contiguous (data() and size())");
  if constexpr (kind == detail::argument_shape::contiguous) {
    using element = detail::element_type<const Value>;
    static_assert(detail::is_sendable<element>,
                  "is_same_on_all_ranks: the elements of this range are not trivially copyable");
    return detail::same_range(ranks, detail::data_of(value), detail::size_of(value), sizeof(element),
                              &detail::equal_elements<element>);
  } else if constexpr (kind == detail::argument_shape::single) {
    static_assert(detail::is_sendable<Value>, "is_same_on_all_ranks: this type is not trivially copyable");
    using agreement = detail::agreement<Value>;
    const agreement mine{value, static_cast<bool>(value == value)};
    const auto agree = [](const agreement& a, const agreement& b) {
      return agreement{a.value, a.same && b.same && a.value == b.value};
    };
    return ranks.allreduce_single(send_buf(mine), op(agree, ops::commutative)).same;
  }
}

}  // namespace tutti
TUTTI_API_END

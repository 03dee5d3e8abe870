// SPDX-License-Identifier: Apache-2.0
//
// Whether all ranks have the same value: for assertions, and before a decision that all must take alike. Not
// included by tutti.hpp.
#pragma once

#include <type_traits>

#include "tutti/communicator.hpp"

namespace tutti {
namespace detail {

/// A value, and whether all that were combined into it are equal.
template <class T>
struct agreement {
  T value;
  bool same;
};

/// Whether n elements equal n others.
using equal_function = bool (*)(const void* a, const void* b, std::size_t n);

/// Collective: compares n elements of `bytes` each with rank 0's, which may be more or fewer.
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

/// Collective: whether all ranks pass equal values, by the == of their type; the same answer on all ranks.
///
/// A value of a trivially copyable type with ==, or a contiguous range of such, as std::vector, std::span,
/// std::string or an array: ranges of different lengths are different, empty ones the same. The answer is
/// exact: elements are compared, not their hashes. As == says, 0.0 is the same as -0.0, and a NaN is not even
/// the same as itself (on one rank too); for the bits of floating-point numbers pass them as integers
/// (std::bit_cast).
///
/// Costs, for a value: one allreduce of it and a bool. For n elements: an allreduce of 16 bytes; where all
/// lengths are the same, bcasts of n elements in pieces of about 1 MiB, for which it allocates, and an
/// allreduce of a bool. Throws what these collectives throw.
///
/// ```cpp
/// #include <tutti/same.hpp>
/// assert(is_same_on_all_ranks(world, world.size()));
/// assert(is_same_on_all_ranks(world, std::string("mode=fast")));
/// assert(is_same_on_all_ranks(world, world.rank()) == (world.size() == 1));
/// ```
template <class Value>
bool is_same_on_all_ranks(const communicator& ranks, const Value& value) {
  constexpr detail::nature kind = detail::nature_of<const Value>();
  static_assert(kind != detail::nature::scattered,
                "is_same_on_all_ranks: this container is not contiguous (data() and size())");
  if constexpr (kind == detail::nature::contiguous) {
    using element = detail::element_type<const Value>;
    static_assert(detail::travels<element>,
                  "is_same_on_all_ranks: the elements of this range are not trivially copyable");
    return detail::same_range(ranks, detail::data_of(value), detail::size_of(value), sizeof(element),
                              &detail::equal_elements<element>);
  } else if constexpr (kind == detail::nature::single) {
    static_assert(detail::travels<Value>, "is_same_on_all_ranks: this type is not trivially copyable");
    using agreement = detail::agreement<Value>;
    const agreement mine{value, static_cast<bool>(value == value)};
    const auto agree = [](const agreement& a, const agreement& b) {
      return agreement{a.value, a.same && b.same && a.value == b.value};
    };
    return ranks.allreduce_single(send_buf(mine), op(agree, ops::commutative)).same;
  }
}

}  // namespace tutti

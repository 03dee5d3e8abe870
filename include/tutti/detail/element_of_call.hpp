// SPDX-License-Identifier: Apache-2.0
//
// The element type of a call: that of T, send_buf, send_recv_buf or recv_buf, in this order.
// Buffers that have a layout come last.
#pragma once

#include <cstddef>
#include <type_traits>

#include "tutti/detail/argument.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/form.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// One pointer, or a list of them: the call would not send what it points to.
template <class C>
inline constexpr bool is_pointer = std::is_pointer_v<C> || std::is_null_pointer_v<C>;
template <class T>
inline constexpr bool is_pointer<dynamic_array<T*>> = true;

template <parameter Name, class A>
struct element_of_argument {
  using type = void;
};
template <parameter N, data_direction F, resize_policy P, class D>
struct element_of_argument<N, argument<N, F, P, D>> {
  static constexpr auto find() {
    using bare = std::remove_cvref_t<D>;
    if constexpr (std::is_same_v<bare, automatic> || is_packed_bool<bare> || is_pointer<bare> ||
                  argument_shape_of<D>() == argument_shape::scattered)
      return std::type_identity<void>{};
    else
      return std::type_identity<element_type<D>>{};
  }
  using type = typename decltype(find())::type;
};
template <class First, class... Rest>
struct first_non_void {
  using type = First;
};
template <class Next, class... Rest>
struct first_non_void<void, Next, Rest...> : first_non_void<Next, Rest...> {};

template <class T, class... Args>
using element_from_buffers =
    typename first_non_void<T, typename element_of_argument<parameter::send_buf, Args>::type...,
                            typename element_of_argument<parameter::send_recv_buf, Args>::type...,
                            typename element_of_argument<parameter::recv_buf, Args>::type...>::type;

// The given layouts, and whether they describe the elements of this buffer.
template <class... Args>
consteval parameter_set types_given() {
  parameter_set given;
  ((kind_of(parameter_of<Args>) == parameter_kind::type && direction_of<Args> == data_direction::in
        ? given.add(parameter_of<Args>)
        : void()),
   ...);
  return given;
}
constexpr bool has_layout(parameter_set given, parameter buffer) {
  using enum parameter;
  if (buffer == send_recv_buf) return given.has(send_recv_type);
  return (buffer == send_buf && (given.has(send_type) || given.has(send_recv_type))) ||
         (buffer == recv_buf && (given.has(recv_type) || given.has(send_recv_type)));
}
template <class A>
struct unknown_count {};

// With layouts, the type comes from the first buffer without one.
template <bool Layouts, class T, class... Args>
struct element_lookup {
  using type = element_from_buffers<T, Args...>;
};
template <class T, class... Args>
struct element_lookup<true, T, Args...> {
  template <class A>
  using plain = std::conditional_t<has_layout(types_given<Args...>(), parameter_of<A>), unknown_count<A>, A>;
  using type = element_from_buffers<element_from_buffers<T, plain<Args>...>, Args...>;
};
template <class T, class... Args>
using element_of_call =
    typename element_lookup<(types_given<Args...>() != parameter_set{}), T, Args...>::type;

/// The same for a call of any form, and the type that one of its arguments must have (void: any).
template <auto F, class T, class... Args>
struct element_in;
template <collective_form F, class T, class... Args>
struct element_in<F, T, Args...> {
  using type = element_of_call<T, Args...>;
  template <class A>
  using for_argument = std::conditional_t<has_layout(types_given<Args...>(), parameter_of<A>), void, type>;
};

}  // namespace tutti::detail
TUTTI_API_END

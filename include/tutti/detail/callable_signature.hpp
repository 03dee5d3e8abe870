// SPDX-License-Identifier: Apache-2.0
//
// The parameter types of a callable with exactly one signature: a function, a lambda without auto
// parameters, a functor with one operator(). Templates and overloads have no single signature.
#pragma once

#include <cstddef>
#include <type_traits>

#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

template <std::size_t I, class... P>
struct type_at;
template <std::size_t I, class First, class... Rest>
struct type_at<I, First, Rest...> : type_at<I - 1, Rest...> {};
template <class First, class... Rest>
struct type_at<0, First, Rest...> {
  using type = First;
};

/// The parameters of a pointer to a function or to a member function. `value` is true if F is such
/// a pointer. `count` includes parameters with default arguments.
template <class F>
struct parameters_of : std::false_type {};
template <class R, class... P>
struct parameters_of<R (*)(P...)> : std::true_type {
  template <std::size_t I>
  using at = typename type_at<I, P...>::type;
  static constexpr std::size_t count = sizeof...(P);
  static constexpr bool is_variadic = false;  // whether it ends with an ellipsis
};
// clang-format off
template <class R, class... P>
struct parameters_of<R (*)(P...) noexcept> : parameters_of<R (*)(P...)> {};
template <class R, class... P>
struct parameters_of<R (*)(P..., ...)> : parameters_of<R (*)(P...)> {
  static constexpr bool is_variadic = true;
};
template <class R, class... P>
struct parameters_of<R (*)(P..., ...) noexcept> : parameters_of<R (*)(P..., ...)> {};
#define TUTTI_PARAMETERS_OF(...)                                                                          \
  template <class R, class C, class... P>                                                                 \
  struct parameters_of<R (C::*)(P...) __VA_ARGS__> : parameters_of<R (*)(P...)> {};                        \
  template <class R, class C, class... P>                                                                 \
  struct parameters_of<R (C::*)(P...) __VA_ARGS__ noexcept> : parameters_of<R (*)(P...)> {};               \
  template <class R, class C, class... P>                                                                 \
  struct parameters_of<R (C::*)(P..., ...) __VA_ARGS__> : parameters_of<R (*)(P..., ...)> {};              \
  template <class R, class C, class... P>                                                                 \
  struct parameters_of<R (C::*)(P..., ...) __VA_ARGS__ noexcept> : parameters_of<R (*)(P..., ...)> {};
TUTTI_PARAMETERS_OF()
TUTTI_PARAMETERS_OF(&)
TUTTI_PARAMETERS_OF(&&)
TUTTI_PARAMETERS_OF(const)
TUTTI_PARAMETERS_OF(const &)
TUTTI_PARAMETERS_OF(const &&)
TUTTI_PARAMETERS_OF(volatile)
TUTTI_PARAMETERS_OF(volatile &)
TUTTI_PARAMETERS_OF(volatile &&)
TUTTI_PARAMETERS_OF(const volatile)
TUTTI_PARAMETERS_OF(const volatile &)
TUTTI_PARAMETERS_OF(const volatile &&)
#undef TUTTI_PARAMETERS_OF
// clang-format on

/// The parameters_of a callable of type K.
template <class K>
constexpr auto signature_of() {
  if constexpr (requires { &K::operator(); })
    return parameters_of<decltype(&K::operator())>{};
  else
    return parameters_of<std::decay_t<K>>{};
}

}  // namespace tutti::detail
TUTTI_API_END

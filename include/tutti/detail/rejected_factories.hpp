// SPDX-License-Identifier: Apache-2.0
//
// Factories that are called with invalid arguments: send_buf(), send_buf(p, n), destination("x"),
// send_buf<resize_to_fit>(v). Each returns an argument that every call rejects
// (collective_rules.hpp). The compiler then reports one error that names the parameter, instead of
// a list of candidates. The kind of the parameter (parameter_table.hpp) determines the error.
#pragma once

#include <initializer_list>

#include "tutti/detail/argument.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/p2p_abi.hpp"
#include "tutti/layout.hpp"

TUTTI_API_BEGIN
namespace tutti {

class status;
namespace ops {
struct commutative_t;
struct non_commutative_t;
}  // namespace ops

namespace detail {

template <parameter Name>
using rejected = argument<Name, data_direction::in, no_resize, misuse>;

/// std::string, without <string>.
template <class T>
concept has_c_str = requires(const T& text) {
  static_cast<const char*>(text.c_str());
};
template <class A>
inline constexpr bool is_layout = std::is_convertible_v<A, const layout&>;
template <class A>
inline constexpr bool is_layouts =
    std::is_convertible_v<std::remove_reference_t<A>&, std::span<const layout>>;

// What a factory of each kind takes. T is a type between angle brackets (misuse: none is written).
// A... are the types of the function arguments, references if they are lvalues.
// clang-format off
template <class T, class... A> inline constexpr bool takes_in = false;
template <class A> inline constexpr bool takes_in<misuse, A> = true;
template <class T, class A> inline constexpr bool takes_in<T, A> = std::is_convertible_v<A, T&&>;

template <class T, class... A> inline constexpr bool takes_out = false;
template <class T> inline constexpr bool takes_out<T> = true;
template <class A> inline constexpr bool takes_out<misuse, A> = true;

template <class T, class... A> inline constexpr bool takes_moved = false;
template <class T, class A>
inline constexpr bool takes_moved<T, A> = !std::is_lvalue_reference_v<A> && !is_reference_wrapper<std::remove_cv_t<A>>;

template <class T, class... A> inline constexpr bool takes_count = false;
template <class T, class A> inline constexpr bool takes_count<T, A> = std::is_integral_v<std::remove_cvref_t<A>>;

template <class T, class... A> inline constexpr bool takes_count_out = false;
template <> inline constexpr bool takes_count_out<misuse> = true;
template <class T> inline constexpr bool takes_count_out<T> = std::is_integral_v<T>;
template <class T, class A>
inline constexpr bool takes_count_out<T, A&> = std::is_integral_v<std::remove_cv_t<A>>;

template <class T, class... A> inline constexpr bool takes_type = false;
template <class A> inline constexpr bool takes_type<misuse, A> = is_layout<A>;

template <class T, class... A> inline constexpr bool takes_type_out = takes_type<T, A...>;
template <> inline constexpr bool takes_type_out<misuse> = true;

template <class T, class... A> inline constexpr bool takes_rank = false;
template <class A>
inline constexpr bool takes_rank<misuse, A> =
    std::is_convertible_v<A, int> && !std::is_floating_point_v<std::remove_cvref_t<A>>;

template <class T, class... A> inline constexpr bool takes_string = false;
template <class T, class A>
inline constexpr bool takes_string<T, A> = std::is_convertible_v<A, const char*> || has_c_str<std::remove_cvref_t<A>>;

template <class T, class... A> inline constexpr bool takes_layouts = false;
template <class T, class A> inline constexpr bool takes_layouts<T, A> = is_layouts<A>;

template <class T, class... A> inline constexpr bool takes_mode = false;
template <class A>
inline constexpr bool takes_mode<misuse, A> = std::is_same_v<std::remove_cvref_t<A>, send_modes>;

template <class T, class... A> inline constexpr bool takes_function = takes_in<T, A...>;
template <class T, class F, class C>
inline constexpr bool takes_function<T, F, C> =
    std::is_same_v<std::remove_cvref_t<C>, ops::commutative_t> ||
    std::is_same_v<std::remove_cvref_t<C>, ops::non_commutative_t>;

template <class T, class... A> inline constexpr bool takes_status_out = false;
template <> inline constexpr bool takes_status_out<misuse> = true;
template <class T, class A>
inline constexpr bool takes_status_out<T, A&> = std::is_same_v<std::remove_cv_t<A>, status>;

template <class T, class... A> inline constexpr bool takes_statuses = false;
template <class T, class A> inline constexpr bool takes_statuses<T, A&> = true;

template <class T, class... A> inline constexpr bool takes_statuses_out = takes_statuses<T, A...>;
template <class T> inline constexpr bool takes_statuses_out<T> = true;

/// The value between the angle brackets, and the function argument.
template <auto P, class... A> inline constexpr bool takes_policy = false;
template <resize_policy P, class A> inline constexpr bool takes_policy<P, A> = true;
template <auto P, class... A> inline constexpr bool takes_no_policy = false;
// clang-format on

}  // namespace detail

// Overloads of the factories of parameters.hpp, ops.hpp and status.hpp; they add no public names.
// The last one takes a list, including {}, that no other takes.
// clang-format off
#define TUTTI_REJECT_BUT(NAME, FACTORY, TYPES, VALUES)                                                  \
  template <class T = detail::misuse, class... A> requires(!detail::TYPES<T, A...>)                     \
  constexpr detail::rejected<parameter::NAME> FACTORY(A&&...) { return {}; }                            \
  template <auto P, class... A> requires(!detail::VALUES<P, A...>)                                      \
  constexpr detail::rejected<parameter::NAME> FACTORY(A&&...) { return {}; }                            \
  constexpr detail::rejected<parameter::NAME> FACTORY(std::initializer_list<detail::anything_else>) { return {}; }
#define TUTTI_REJECT_PLAIN(NAME, FACTORY, TYPES) TUTTI_REJECT_BUT(NAME, FACTORY, TYPES, takes_no_policy)
#define TUTTI_REJECT_FITTED(NAME, FACTORY, TYPES) TUTTI_REJECT_BUT(NAME, FACTORY, TYPES, takes_policy)

#define TUTTI_REJECT_in_buffer(NAME) TUTTI_REJECT_PLAIN(NAME, NAME, takes_in)
#define TUTTI_REJECT_send_buffer(NAME) \
  TUTTI_REJECT_in_buffer(NAME) TUTTI_REJECT_PLAIN(NAME, NAME##_out, takes_moved)
#define TUTTI_REJECT_in_out_buffer(NAME) TUTTI_REJECT_FITTED(NAME, NAME, takes_out)
#define TUTTI_REJECT_out_buffer(NAME) \
  TUTTI_REJECT_in_out_buffer(NAME) TUTTI_REJECT_FITTED(NAME, NAME##_out, takes_out)
#define TUTTI_REJECT_counts(NAME) \
  TUTTI_REJECT_in_buffer(NAME) TUTTI_REJECT_FITTED(NAME, NAME##_out, takes_out)
#define TUTTI_REJECT_count(NAME) \
  TUTTI_REJECT_PLAIN(NAME, NAME, takes_count) TUTTI_REJECT_PLAIN(NAME, NAME##_out, takes_count_out)
#define TUTTI_REJECT_type(NAME) \
  TUTTI_REJECT_PLAIN(NAME, NAME, takes_type) TUTTI_REJECT_PLAIN(NAME, NAME##_out, takes_type_out)
#define TUTTI_REJECT_rank(NAME) TUTTI_REJECT_PLAIN(NAME, NAME, takes_rank)
#define TUTTI_REJECT_tag(NAME) TUTTI_REJECT_PLAIN(NAME, NAME, takes_rank)
#define TUTTI_REJECT_string(NAME) TUTTI_REJECT_PLAIN(NAME, NAME, takes_string)
#define TUTTI_REJECT_layouts(NAME) TUTTI_REJECT_PLAIN(NAME, NAME, takes_layouts)
#define TUTTI_REJECT_mode(NAME) TUTTI_REJECT_PLAIN(NAME, NAME, takes_mode)
#define TUTTI_REJECT_function(NAME) TUTTI_REJECT_PLAIN(NAME, NAME, takes_function)
#define TUTTI_REJECT_status(NAME) TUTTI_REJECT_PLAIN(NAME, NAME##_out, takes_status_out)
#define TUTTI_REJECT_statuses(NAME) \
  TUTTI_REJECT_FITTED(NAME, NAME, takes_statuses) TUTTI_REJECT_FITTED(NAME, NAME##_out, takes_statuses_out)
#define TUTTI_REJECT_request(NAME)

#define TUTTI_ROW(NAME, KIND, TEXT) TUTTI_REJECT_##KIND(NAME)
TUTTI_PARAMETERS(TUTTI_ROW)
#undef TUTTI_ROW
#undef TUTTI_REJECT_request
#undef TUTTI_REJECT_statuses
#undef TUTTI_REJECT_status
#undef TUTTI_REJECT_function
#undef TUTTI_REJECT_mode
#undef TUTTI_REJECT_layouts
#undef TUTTI_REJECT_string
#undef TUTTI_REJECT_tag
#undef TUTTI_REJECT_rank
#undef TUTTI_REJECT_type
#undef TUTTI_REJECT_count
#undef TUTTI_REJECT_counts
#undef TUTTI_REJECT_out_buffer
#undef TUTTI_REJECT_in_out_buffer
#undef TUTTI_REJECT_send_buffer
#undef TUTTI_REJECT_in_buffer
#undef TUTTI_REJECT_FITTED
#undef TUTTI_REJECT_PLAIN
#undef TUTTI_REJECT_BUT
// clang-format on

}  // namespace tutti
TUTTI_API_END

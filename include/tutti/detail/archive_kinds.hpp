// SPDX-License-Identifier: Apache-2.0
//
// Determines from the members of a type how it is serialized. Standard containers, and containers
// that look like them, are recognized without their headers. This file also has the compile errors
// for types that cannot be serialized.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tutti/detail/argument.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

class writer;
class reader;

enum class kind : std::uint8_t {
  none,      // cannot be serialized
  hook,      // the program has a serialize() for it
  boolean,   // not plain: a byte of a message need not be 0 or 1
  plain,     // its bytes are its whole value
  array,     // its length is part of the type
  tuple,     // also pair
  optional,  // also what looks like it
  pointer,   // owns one object: unique_ptr
  variant,
  range,     // can only be written: span, string_view
  sequence,  // can be resized
  set,
  map
};

/// Emits one error for a type that cannot be serialized; the line before names T.
template <class T>
struct needs_serialize {
  static_assert(!std::is_same_v<T, T>,
                "as_serialized: this type needs a template <class Archive> void serialize(Archive& a, T& x), "
                "which calls a(x.one, x.other), and a default constructor to be received");
};

template <class A, class T>
concept has_member_hook = std::is_class_v<T> && requires(A& a, T& x) {
  x.serialize(a);
};
template <class A, class T>
concept has_free_hook = (std::is_class_v<T> || std::is_enum_v<T> || std::is_union_v<T>)&&requires(A& a,
                                                                                                  T& x) {
  serialize(a, x);
};

// --- what types look like
template <class T>
concept looks_like_tuple = std::is_class_v<T> && requires {
  std::tuple_size<T>::value;
};
template <class T>
concept looks_like_range = std::is_class_v<T> && requires(const T& x) {
  typename T::value_type;
  x.begin() != x.end();
  x.size();
};
template <class T>
concept looks_like_optional = std::is_class_v<T> && requires(T& x) {
  typename T::value_type;
  x.has_value();
  x.reset();
  *x;
};
template <class T>
concept looks_like_pointer = std::is_class_v<T> && requires(T& x) {
  typename T::deleter_type;
  x.release();
  x.reset(x.get());
  *x;
} && !std::is_polymorphic_v<typename T::element_type>;

template <class T>
struct alternatives_of {
  static constexpr std::size_t count = 0;
};
template <template <class...> class Variant, class... T>
requires requires(const Variant<T...>& x) { x.valueless_by_exception(), x.index(); }
struct alternatives_of<Variant<T...>> {
  static constexpr std::size_t count = sizeof...(T);
};

// --- kinds
template <class A, class T>
consteval bool is_plain();

template <class A, class T, std::size_t... I>
consteval bool has_plain_elements(std::index_sequence<I...>) {
  return (is_plain<A, std::remove_cv_t<std::tuple_element_t<I, T>>>() && ...);
}

/// Whether the bytes of a T are its whole value. Those of pointers are not, and some views contain
/// pointers.
template <class A, class T>
consteval bool is_plain() {
  if constexpr (!is_sendable<T> || std::is_pointer_v<T> || std::is_member_pointer_v<T> ||
                std::is_null_pointer_v<T> || std::is_same_v<T, bool>)
    return false;
  else if constexpr (std::is_bounded_array_v<T>)
    return is_plain<A, std::remove_cv_t<std::remove_extent_t<T>>>();
  else if constexpr (has_member_hook<A, T> || has_free_hook<A, T>)
    return false;
  else if constexpr (looks_like_tuple<T>)
    return has_plain_elements<A, T>(std::make_index_sequence<std::tuple_size_v<T>>());
  else
    return !looks_like_range<T> && !looks_like_optional<T> && alternatives_of<T>::count == 0;
}

template <class A, class T>
consteval kind kind_of_range() {
  if constexpr (requires { typename T::mapped_type; }) return requires(T & x) {
      x.emplace_hint(x.end(), std::declval<typename T::key_type>(), std::declval<typename T::mapped_type>());
    }
  ? kind::map : kind::none;
  else if constexpr (requires { typename T::key_type; }) return requires(T & x) {
    x.insert(x.end(), std::declval<typename T::key_type>());
  }
  ? kind::set : kind::none;
  else if constexpr (requires(T & x) { x.resize(std::size_t{1}); }) return kind::sequence;
  else return std::is_same_v<A, writer> ? kind::range : kind::none;
}

template <class A, class T>
consteval kind kind_of_object() {
  if constexpr (std::is_const_v<T> && std::is_same_v<A, reader>)
    return kind::none;
  else if constexpr (has_member_hook<A, T> || has_free_hook<A, T>)
    return kind::hook;
  else if constexpr (std::is_same_v<T, bool>)
    return kind::boolean;
  else if constexpr (is_plain<A, T>())
    return kind::plain;
  else if constexpr (std::is_bounded_array_v<T>)
    return kind::array;
  else if constexpr (looks_like_tuple<T>)
    return kind::tuple;
  else if constexpr (looks_like_optional<T>)
    return kind::optional;
  else if constexpr (looks_like_pointer<T>)
    return kind::pointer;
  else if constexpr (alternatives_of<T>::count != 0)
    return kind::variant;
  else if constexpr (looks_like_range<T>)
    return kind_of_range<A, T>();
  else
    return kind::none;
}

template <class A, class C>
concept is_contiguous_plain = requires(C& c) {
  *c.data();
}
&&is_plain<A, typename C::value_type>();

// --- what prevents serialization
template <class T>
using diagnosed_of = std::conditional_t<std::is_void_v<T>, void, needs_serialize<T>>;
template <class... T>
struct first_unserializable {
  using type = void;
};
template <class First, class... Rest>
struct first_unserializable<First, Rest...> {
  using type = std::conditional_t<std::is_void_v<First>, typename first_unserializable<Rest...>::type, First>;
};

/// The first type within T that an archive of type A does not support; void: none. Types that the
/// program's own serialize() names are found when that is compiled. Made: the type must have a
/// default constructor.
template <class A, class T, bool Made>
struct unserializable_in;
template <class A, class T, bool Made = std::is_same_v<A, reader>>
using unserializable = typename unserializable_in<A, T, Made>::type;

template <class A, class T>
struct unserializable_inside {
  template <std::size_t... I>
  static auto of_tuple(std::index_sequence<I...>) -> std::type_identity<
      typename first_unserializable<unserializable<A, std::tuple_element_t<I, T>, false>...>::type>;
  template <template <class...> class Variant, class... Ts>
  static auto of_variant(std::type_identity<Variant<Ts...>>)
      -> std::type_identity<typename first_unserializable<unserializable<A, Ts>...>::type>;

  static constexpr auto find() {
    constexpr kind what = kind_of_object<A, T>();
    if constexpr (what == kind::none)
      return std::type_identity<T>{};
    else if constexpr (what == kind::array)
      return std::type_identity<unserializable<A, std::remove_extent_t<T>, false>>{};
    else if constexpr (what == kind::tuple)
      return decltype(of_tuple(std::make_index_sequence<std::tuple_size_v<T>>())){};
    else if constexpr (what == kind::optional)
      return std::type_identity<unserializable<A, typename T::value_type>>{};
    else if constexpr (what == kind::pointer)
      return std::type_identity<unserializable<A, std::remove_const_t<typename T::element_type>>>{};
    else if constexpr (what == kind::variant)
      return decltype(of_variant(std::type_identity<T>{})){};
    else if constexpr (what == kind::map)
      return std::type_identity<typename first_unserializable<
          unserializable<A, typename T::key_type>, unserializable<A, typename T::mapped_type>>::type>{};
    else if constexpr (what == kind::set || what == kind::sequence || what == kind::range)
      return std::type_identity<unserializable<A, typename T::value_type>>{};
    else
      return std::type_identity<void>{};
  }
};
template <class A, class T, bool Made>
struct unserializable_in {
  static constexpr auto find() {
    if constexpr (Made && !std::is_default_constructible_v<T>)
      return std::type_identity<T>{};
    else
      return unserializable_inside<A, T>::find();
  }
  using type = typename decltype(find())::type;
};

}  // namespace tutti::detail
TUTTI_API_END

// SPDX-License-Identifier: Apache-2.0
//
// Rules for calls whose buffers hold objects to serialize: the calls that take them, the types of
// their results, and the compile errors. collective_rules.hpp has those for buffers of elements.
//
// An argument, recv_buf(as_deserializable(x)), has data, the wrapper. These refer to an object, x.
#pragma once

#include <type_traits>

#include "tutti/detail/archive_kinds.hpp"
#include "tutti/detail/collective_rules.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/message_rules.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// The result of as_serialized(x) and as_deserializable(x). Data is `X&` for the caller's own
/// object, else X.
template <class Data, class Format>
struct serialized {
  using object_format = Format;
  using object_data = Data;
  Data object;
};
template <class Data, class Format>
struct deserializable {
  using object_format = Format;
  using object_data = Data;
  Data object;
};

template <class W>
inline constexpr bool is_deserializable = false;
template <class D, class F>
inline constexpr bool is_deserializable<deserializable<D, F>> = true;

/// The object in an argument with data of type D. If the caller passes an lvalue wrapper, the call
/// refers to the object in it.
template <class D>
struct object_of_data {
  using type = typename D::object_data;
};
template <class W>
struct object_of_data<W&> {
  using data = typename W::object_data;
  using type = std::conditional_t<std::is_const_v<W>, const data, data>&;
};

/// The properties of argument A, which holds an object.
template <class A>
struct object_argument {
  using data = typename object_of_data<typename A::data_type>::type;
  using object = std::remove_cvref_t<data>;
  using format = typename std::remove_cvref_t<typename A::data_type>::object_format;
  static constexpr bool is_const = std::is_const_v<std::remove_reference_t<data>>;
  static constexpr bool is_received = is_deserializable<std::remove_cvref_t<typename A::data_type>>;
};

// --- which calls
constexpr bool is_bcast(collective_form f) { return f.what == collective::bcast; }
constexpr bool is_bcast(message_form) { return false; }
constexpr bool is_sendrecv(collective_form) { return false; }
constexpr bool is_sendrecv(message_form f) { return f.what == message_call::sendrecv; }
constexpr bool is_message(collective_form) { return false; }
constexpr bool is_message(message_form) { return true; }
/// Whether the send buffer is a range with one object for each rank.
constexpr bool sends_many(collective_form f) {
  return f.what == collective::scatter || f.what == collective::alltoall;
}
constexpr bool sends_many(message_form) { return false; }
/// Whether the receive buffer is a range with one object from each rank.
constexpr bool receives_many(collective_form f) {
  return f.what == collective::gather || f.what == collective::allgather || f.what == collective::alltoall;
}
constexpr bool receives_many(message_form) { return false; }

constexpr bool takes_objects(collective_form f) {
  return f.how != mode::persistent && !f.single && !f.equal_blocks &&
         (is_bcast(f) || sends_many(f) || receives_many(f));
}
constexpr bool takes_objects(message_form f) {
  return f.how != mode::persistent && !f.single && (f.sends() || f.receives());
}

/// Counts and layouts are removed: an object has no elements.
constexpr rules without_counts(rules r) {
  using enum parameter;
  for (parameter name : {send_count, recv_count, send_recv_count, send_type, recv_type, send_recv_type}) {
    r.in.remove(name);
    r.out.remove(name);
  }
  r.out.remove(send_buf);  // a sent object stays with the caller
  return r;
}

// --- the types of a call
template <class X>
struct item_of {
  using type = void;
};
template <looks_like_range X>
struct item_of<X> {
  using type = typename X::value_type;
};

template <parameter N, class... Args>
struct object_named {
  using type = void;
  using format = void;
};
template <parameter N, class A, class... Rest>
struct object_named<N, A, Rest...> : object_named<N, Rest...> {};
template <parameter N, class A, class... Rest>
requires(holds_object<A>&& parameter_of<A> == N) struct object_named<N, A, Rest...> {
  using type = typename object_argument<A>::object;
  using format = typename object_argument<A>::format;
};

template <class A>
inline constexpr bool is_automatic_buffer = false;
template <parameter N, data_direction F, resize_policy P>
inline constexpr bool is_automatic_buffer<argument<N, F, P, automatic>> = true;

/// The objects that the call F<T>(Args...) sends and receives.
template <auto F, class T, class... Args>
struct object_call {
  using sent = typename object_named<parameter::send_buf, Args...>::type;  // or void
  using item = typename std::conditional_t<sends_many(F), item_of<sent>, std::type_identity<sent>>::type;
  static constexpr bool has_receive_buffer =
      ((parameter_of<Args> == parameter::send_recv_buf ||
        (parameter_of<Args> == parameter::recv_buf && !is_automatic_buffer<Args>)) ||
       ...);
  /// Whether the call makes a container because no receive buffer is passed.
  static constexpr bool makes = (rules_of(F).makes && !is_bcast(F)) && !has_receive_buffer &&
                                !std::is_void_v<item> && (std::is_void_v<T> || !is_message(F));
  static constexpr auto find_made() {
    if constexpr (!makes)
      return std::type_identity<void>{};
    else if constexpr (receives_many(F))
      return std::type_identity<default_container<item>>{};
    else
      return std::type_identity<item>{};
  }
  using made = typename decltype(find_made())::type;
};

// --- errors in one argument alone
template <auto F, class T, class Call, class A>
consteval problem problem_of_object() {
  using enum parameter;
  using traits = object_argument<A>;
  using object = typename traits::object;
  constexpr parameter name = parameter_of<A>;
  constexpr bool in_place = name == send_recv_buf;
  if (in_place ? !is_bcast(F) && !is_sendrecv(F) : name != send_buf && name != recv_buf)
    return problem::no_objects;
  if (traits::is_received != (name == recv_buf)) return problem::not_serialized;
  if (name != send_buf && traits::is_const) return problem::constant;
  if constexpr (name == send_buf) {
    if constexpr (sends_many(F)) {
      if (!looks_like_range<object>) return problem::no_range;
      if (!std::is_void_v<T> && !std::is_same_v<T, typename item_of<object>::type>)
        return problem::other_type;
    }
  } else if constexpr (receives_many(F)) {
    if constexpr (!looks_like_range<object>) {
      return problem::no_range;
    } else {
      if (!requires(object & c) { c.resize(std::size_t{1}); }) return problem::no_resize;
      constexpr bool other = !std::is_same_v<typename object::value_type, typename Call::item>;
      // A view is received as a type that owns its elements.
      if (other && kind_of_object<reader, typename Call::item>() != kind::none) return problem::other_type;
    }
  } else {
    if (!std::is_void_v<T> && !std::is_same_v<T, object>) return problem::other_type;
  }
  return problem::none;
}

template <auto F, class T, class Call, class A>
consteval argument_properties properties_with_objects() {
  constexpr parameter name = parameter_of<A>;
  constexpr bool is_buffer =
      name == parameter::send_buf || name == parameter::recv_buf || name == parameter::send_recv_buf;
  if constexpr (holds_object<A>) {
    // Sent objects are serialized before the call returns, so the call need not keep them.
    constexpr bool owning =
        name != parameter::send_buf && !std::is_reference_v<typename object_argument<A>::data>;
    return {name, direction_of<A>, problem_of_object<F, T, Call, A>(), owning, true};
  } else {
    constexpr bool mixed = is_buffer && !is_automatic_buffer<A> && !is_sendrecv(F);
    argument_properties properties = properties_in<void, A>;
    if (mixed && properties.fault != problem::misused && properties.fault != problem::pointer)
      properties.fault = problem::not_serialized;
    return properties;
  }
}

/// The error in the call F<T>(Args...), some of whose arguments hold objects.
template <auto F, class T, class... Args>
consteval argument_error error_with_objects() {
  using traits = object_call<F, T, Args...>;
  if constexpr (!takes_objects(F)) {
    parameter name = parameter::unnamed;
    ((holds_object<Args> ? void(name = parameter_of<Args>) : void()), ...);
    return {problem::no_objects, name};
  } else {
    constexpr argument_properties properties[] = {properties_with_objects<F, T, traits, Args>()...};
    return find_error(without_counts(rules_of(F)), true, properties, sizeof...(Args));
  }
}

// --- types that cannot be serialized
template <auto F, class A>
struct unserializable_argument {
  static constexpr auto find() {
    if constexpr (holds_object<A>) {
      using traits = object_argument<A>;
      using object = typename traits::object;
      using sent_item =
          typename std::conditional_t<sends_many(F), item_of<object>, std::type_identity<object>>::type;
      if constexpr (parameter_of<A> == parameter::send_buf)
        return std::type_identity<typename traits::format::template cannot_be_sent<sent_item>>{};
      else if constexpr (receives_many(F))
        return std::type_identity<
            typename traits::format::template cannot_be_received<typename object::value_type>>{};
      else
        return std::type_identity<typename first_unserializable<
            typename traits::format::template cannot_be_sent<object>,
            typename traits::format::template cannot_be_received<object>>::type>{};
    } else {
      return std::type_identity<void>{};
    }
  }
  using type = typename decltype(find())::type;
};
template <class Format, class Made, bool Many>
struct cannot_be_made {
  static constexpr auto find() {
    if constexpr (std::is_void_v<Made>)
      return std::type_identity<void>{};
    else if constexpr (Many)
      return std::type_identity<typename Format::template cannot_be_received<typename Made::value_type>>{};
    else
      return std::type_identity<typename Format::template cannot_be_received<Made>>{};
  }
  using type = typename decltype(find())::type;
};

/// The compile error for the first type of the call that its format does not support; void: none.
template <auto F, class T, class... Args>
using unserializable_of_call = typename first_unserializable<
    typename unserializable_argument<F, Args>::type...,
    typename cannot_be_made<typename object_named<parameter::send_buf, Args...>::format,
                            typename object_call<F, T, Args...>::made, receives_many(F)>::type>::type;

}  // namespace tutti::detail
TUTTI_API_END

// SPDX-License-Identifier: Apache-2.0
//
// Calls with objects to serialize: they are checked, and executed as calls on bytes. Objects of
// different ranks have different lengths, so collectives run their vector forms. This file defines
// two declarations of invoke.hpp and invoke_message.hpp, which programs with tutti/serialization.hpp use.
#pragma once

#include "tutti/communicator.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/object_bytes.hpp"
#include "tutti/detail/object_rules.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

constexpr collective vector_form_of(collective what) {
  switch (what) {
    case collective::gather:
      return collective::gatherv;
    case collective::scatter:
      return collective::scatterv;
    case collective::allgather:
      return collective::allgatherv;
    case collective::alltoall:
      return collective::alltoallv;
    default:
      return what;
  }
}

/// Throws usage_error if the number of objects differs from that of blocks, after reporting it to
/// the other ranks.
void check_objects(const call_site&, object_place, int root, std::size_t objects);

// --- serialization before the call ---
template <class Format, class X>
void pack_one(object_bytes& to, const X& x, object_place at) {
  std::size_t length = 0;
  Format::template pack<X>(to, address_of(x), 1, &length, at);
}
template <class Format, class C>
void pack_each(departing& to, const C& objects, std::size_t n, object_place at) {
  to.lengths.resize(n);
  Format::template pack<typename C::value_type>(to.bytes, objects.begin(), n, to.lengths.data(), at);
}

// Writes the objects of a collective's send_buf.
template <form F, class A>
void pack_sent(departing& sent, const A& a, const call_site& site, int root) {
  if constexpr (holds_object<A> && parameter_of<A> == parameter::send_buf) {
    using format = typename object_argument<A>::format;
    const object_place at{site, parameter::send_buf};
    if constexpr (F.what == collective::scatter)
      if (site.rank != root) return;
    if constexpr (sends_many(F)) {
      check_objects(site, at, root, a.data.object.size());
      sent.bytes.fill(
          [&] { pack_each<format>(sent, a.data.object, static_cast<std::size_t>(site.gives), at); });
    } else {
      sent.bytes.fill([&] { pack_one<format>(sent.bytes, a.data.object, at); });
    }
  }
}
// The same for a message.
template <class A>
void pack_message(object_bytes& sent, const A& a, caller site) {
  if constexpr (holds_object<A> && parameter_of<A> == parameter::send_buf)
    pack_one<typename object_argument<A>::format>(sent, a.data.object, {site, parameter::send_buf});
}
template <class A>
void find_root(const A& a, int& root) noexcept {
  if constexpr (parameter_of<A> == parameter::root) root = a.data;
}

// --- the call on bytes ---

/// The replacement of argument `a` in the call on bytes. `sent` holds the bytes of a send_buf;
/// `gives` is whether this rank sends in a send_recv_buf.
template <class Call, class Format, bool Many, class A>
decltype(auto) in_bytes(A&& a, caller site, object_bytes& sent, bool gives) {
  using argument_type = std::remove_cvref_t<A>;
  constexpr parameter name = parameter_of<argument_type>;
  const object_place at{site, name};
  if constexpr (!holds_object<argument_type>) {
    if constexpr (is_automatic_buffer<argument_type> && Call::makes) {
      using place = arriving<typename Call::made, Format, Many>;
      return argument<name, flow::out, resize_to_fit, place>{place(at)};
    } else {
      return static_cast<A&&>(a);
    }
  } else if constexpr (name == parameter::send_buf) {
    return argument<name, flow::in, no_resize, object_bytes>{std::move(sent)};
  } else {
    using known = object_argument<argument_type>;
    using data = typename known::data;
    using format = typename known::format;
    arriving<data, format, Many> place(at, static_cast<data&&>(without_const(a).data.object));
    if constexpr (name == parameter::send_recv_buf)
      if (gives) {
        const auto pack = [&] { pack_one<format>(place, place.object(), at); };
        if (site.name.message)
          pack();
        else
          place.fill(pack);
      }
    return argument<name, argument_type::direction, resize_to_fit, arriving<data, format, Many>>{
        std::move(place)};
  }
}

template <class A>
concept arrives_as_object = stands_for_object<typename A::data_type>;

/// The format of what the call makes, which is that of the sent object.
template <class... Args>
using format_sent = typename object_named<parameter::send_buf, std::remove_cvref_t<Args>...>::format;

/// Whether the call compiles; makes the compiler report why it does not. F is a form or a
/// message_form.
template <auto F, class T, class... Args>
consteval bool diagnose_objects() {
  constexpr verdict v = judged_with_objects<F, T, Args...>();
  using unserializable = unserializable_of_call<F, T, Args...>;
  if constexpr (v.what != problem::none)
    return diagnostic<v.what, v.which>{}, false;
  else if constexpr (!std::is_void_v<unserializable>)
    return unserializable{}, false;
  else
    return true;
}

template <form F, class T, class Communicator, class... Args>
auto invoke_with_objects(const Communicator& comm, Args&&... args) {
  if constexpr (!diagnose_objects<F, T, std::remove_cvref_t<Args>...>()) {
    return mistaken{};
  } else {
    using known = object_call<F, T, std::remove_cvref_t<Args>...>;
    using format = format_sent<Args...>;
    constexpr bool many = receives_many(F);
    constexpr form on_bytes{vector_form_of(F.what), F.how};
    note_call(impl_of(comm), args...);
    call_site site = access::site(comm, on_bytes);
    site.name = F;
    int root = site.default_root;
    (find_root(args, root), ...);
    departing sent;
    (pack_sent<F>(sent, args, site, root), ...);
    const bool gives = site.rank == root;
    const auto go = [&](auto&&... more) {
      return invoke_judged<on_bytes, std::byte, F>(
          site, comm, std::move(more)...,
          in_bytes<known, format, many>(static_cast<Args&&>(args), site, sent.bytes, gives)...);
    };
    constexpr bool requested = (is_automatic_buffer<std::remove_cvref_t<Args>> || ...);
    constexpr bool first = known::makes && !requested;
    using made = std::conditional_t<first, arriving<typename known::made, format, many>, object_bytes>;
    using lengths = argument<parameter::send_counts, flow::in, no_resize, dynamic_array<std::size_t>>;
    using place = argument<parameter::recv_buf, flow::out, resize_to_fit, made>;
    constexpr bool tells = sends_many(F) && !std::is_void_v<typename known::sent>;
    if constexpr (first && tells)
      return go(place{made({site, parameter::recv_buf})}, lengths{std::move(sent.lengths)});
    else if constexpr (first)
      return go(place{made({site, parameter::recv_buf})});
    else if constexpr (tells)
      return go(lengths{std::move(sent.lengths)});
    else
      return go();
  }
}

// If an object is received, T has been compared with it.
template <message_form F, class T, class Communicator, class... Args>
auto invoke_message_on_bytes(Communicator& comm, Args&&... args) {
  constexpr bool arrives = (arrives_as_object<std::remove_cvref_t<Args>> || ...);
  using told = std::conditional_t<arrives, void, T>;
  using element = typename element_in<F, told, std::remove_cvref_t<Args>...>::type;
  return invoke_message_judged<F, element>(comm, static_cast<Args&&>(args)...);
}

template <message_form F, class T, class Communicator, class... Args>
auto invoke_message_with_objects(Communicator& comm, Args&&... args) {
  if constexpr (!diagnose_objects<F, T, std::remove_cvref_t<Args>...>()) {
    return mistaken{};
  } else {
    using known = object_call<F, T, std::remove_cvref_t<Args>...>;
    using format = format_sent<Args...>;
    note_call(impl_of(comm), args...);
    const caller site{impl_of(comm), F};
    object_bytes sent;
    (pack_message(sent, args, site), ...);
    const auto go = [&](auto&&... more) {
      return invoke_message_on_bytes<F, T>(
          comm, std::move(more)...,
          in_bytes<known, format, false>(static_cast<Args&&>(args), site, sent, true)...);
    };
    constexpr bool requested = (is_automatic_buffer<std::remove_cvref_t<Args>> || ...);
    if constexpr (known::makes && !requested) {
      using made = arriving<typename known::made, format, false>;
      using place = argument<parameter::recv_buf, flow::out, resize_to_fit, made>;
      return go(place{made({site, parameter::recv_buf})});
    } else {
      return go();
    }
  }
}

}  // namespace tutti::detail
TUTTI_API_END

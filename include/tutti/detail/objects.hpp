// SPDX-License-Identifier: Apache-2.0
//
// Calls with objects to serialize: they are checked, and executed as calls on bytes. Objects of
// different ranks have different lengths, so collectives run their vector forms. This file defines
// two declarations of invoke.hpp and invoke_message.hpp, which programs with
// tutti/serialization.hpp use.
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
void validate_objects(const collective_caller&, object_site, int root, std::size_t objects);

// --- serialization before the call
template <class Format, class X>
void pack_one(object_bytes& to, const X& x, object_site at) {
  std::size_t length = 0;
  Format::template pack<X>(to, address_of(x), 1, &length, at);
}
template <class Format, class C>
void pack_each(sent_objects& to, const C& objects, std::size_t n, object_site at) {
  to.lengths.resize(n);
  Format::template pack<typename C::value_type>(to.bytes, objects.begin(), n, to.lengths.data(), at);
}

// Writes the objects of a collective's send_buf.
template <collective_form F, class A>
void pack_send_buf(sent_objects& sent, const A& a, const collective_caller& site, int root) {
  if constexpr (holds_object<A> && parameter_of<A> == parameter::send_buf) {
    using format = typename object_argument<A>::format;
    const object_site at{site, parameter::send_buf};
    if constexpr (F.what == collective::scatter)
      if (site.rank != root) return;
    if constexpr (sends_many(F)) {
      validate_objects(site, at, root, a.data.object.size());
      sent.bytes.fill(
          [&] { pack_each<format>(sent, a.data.object, static_cast<std::size_t>(site.send_blocks), at); });
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

// --- the call on bytes

/// The replacement of argument `a` in the call on bytes. `sent` holds the bytes of a send_buf;
/// `gives` is whether this rank sends in a send_recv_buf.
template <class Call, class Format, bool Many, class A>
decltype(auto) in_bytes(A&& a, caller site, object_bytes& sent, bool gives) {
  using argument_type = std::remove_cvref_t<A>;
  constexpr parameter name = parameter_of<argument_type>;
  const object_site at{site, name};
  if constexpr (!holds_object<argument_type>) {
    if constexpr (is_automatic_buffer<argument_type> && Call::makes) {
      using buffer = received_object<typename Call::made, Format, Many>;
      return argument<name, data_direction::out, resize_to_fit, buffer>{buffer(at)};
    } else {
      return static_cast<A&&>(a);
    }
  } else if constexpr (name == parameter::send_buf) {
    return argument<name, data_direction::in, no_resize, object_bytes>{std::move(sent)};
  } else {
    using traits = object_argument<argument_type>;
    using data = typename traits::data;
    using format = typename traits::format;
    received_object<data, format, Many> buffer(at, static_cast<data&&>(without_const(a).data.object));
    if constexpr (name == parameter::send_recv_buf)
      if (gives) {
        const auto pack = [&] { pack_one<format>(buffer, buffer.object(), at); };
        if (site.name.message)
          pack();
        else
          buffer.fill(pack);
      }
    return argument<name, argument_type::direction, resize_to_fit, received_object<data, format, Many>>{
        std::move(buffer)};
  }
}

template <class A>
concept arrives_as_object = is_object_buffer<typename A::data_type>;

/// The format of what the call makes, which is that of the sent object.
template <class... Args>
using format_sent = typename object_named<parameter::send_buf, std::remove_cvref_t<Args>...>::format;

/// Whether the call compiles; makes the compiler report why it does not. F is a form or a
/// message_form.
template <auto F, class T, class... Args>
consteval bool diagnose_objects() {
  constexpr argument_error v = error_with_objects<F, T, Args...>();
  using unserializable = unserializable_of_call<F, T, Args...>;
  if constexpr (v.what != problem::none)
    return diagnostic<v.what, v.which>{}, false;
  else if constexpr (!std::is_void_v<unserializable>)
    return unserializable{}, false;
  else
    return true;
}

template <collective_form F, class T, class Communicator, class... Args>
auto invoke_with_objects(const Communicator& comm, Args&&... args) {
  if constexpr (!diagnose_objects<F, T, std::remove_cvref_t<Args>...>()) {
    return rejected_call_result{};
  } else {
    using traits = object_call<F, T, std::remove_cvref_t<Args>...>;
    using format = format_sent<Args...>;
    constexpr bool many = receives_many(F);
    constexpr collective_form on_bytes{vector_form_of(F.what), F.how};
    note_call(impl_of(comm), args...);
    collective_caller site = access::site(comm, on_bytes);
    site.name = F;
    validate_entry(site);
    int root = site.default_root;
    (find_root(args, root), ...);
    sent_objects sent;
    (pack_send_buf<F>(sent, args, site, root), ...);
    const bool gives = site.rank == root;
    const auto go = [&](auto&&... more) {
      return invoke_validated<on_bytes, std::byte, F>(
          site, comm, std::move(more)...,
          in_bytes<traits, format, many>(static_cast<Args&&>(args), site, sent.bytes, gives)...);
    };
    constexpr bool requested = (is_automatic_buffer<std::remove_cvref_t<Args>> || ...);
    constexpr bool first = traits::makes && !requested;
    using made =
        std::conditional_t<first, received_object<typename traits::made, format, many>, object_bytes>;
    using lengths =
        argument<parameter::send_counts, data_direction::in, no_resize, dynamic_array<std::size_t>>;
    using buffer = argument<parameter::recv_buf, data_direction::out, resize_to_fit, made>;
    constexpr bool passes_lengths = sends_many(F) && !std::is_void_v<typename traits::sent>;
    if constexpr (first && passes_lengths)
      return go(buffer{made({site, parameter::recv_buf})}, lengths{std::move(sent.lengths)});
    else if constexpr (first)
      return go(buffer{made({site, parameter::recv_buf})});
    else if constexpr (passes_lengths)
      return go(lengths{std::move(sent.lengths)});
    else
      return go();
  }
}

// If an object is received, T has been compared with it.
template <message_form F, class T, class Communicator, class... Args>
auto invoke_message_on_bytes(Communicator& comm, Args&&... args) {
  constexpr bool arrives = (arrives_as_object<std::remove_cvref_t<Args>> || ...);
  using element_hint = std::conditional_t<arrives, void, T>;
  using element = typename element_in<F, element_hint, std::remove_cvref_t<Args>...>::type;
  return invoke_validated_message<F, element>(comm, static_cast<Args&&>(args)...);
}

template <message_form F, class T, class Communicator, class... Args>
auto invoke_message_with_objects(Communicator& comm, Args&&... args) {
  if constexpr (!diagnose_objects<F, T, std::remove_cvref_t<Args>...>()) {
    return rejected_call_result{};
  } else {
    using traits = object_call<F, T, std::remove_cvref_t<Args>...>;
    using format = format_sent<Args...>;
    note_call(impl_of(comm), args...);
    const caller site{impl_of(comm), F};
    object_bytes sent;
    (pack_message(sent, args, site), ...);
    const auto go = [&](auto&&... more) {
      return invoke_message_on_bytes<F, T>(
          comm, std::move(more)...,
          in_bytes<traits, format, false>(static_cast<Args&&>(args), site, sent, true)...);
    };
    constexpr bool requested = (is_automatic_buffer<std::remove_cvref_t<Args>> || ...);
    if constexpr (traits::makes && !requested) {
      using made = received_object<typename traits::made, format, false>;
      using buffer = argument<parameter::recv_buf, data_direction::out, resize_to_fit, made>;
      return go(buffer{made({site, parameter::recv_buf})});
    } else {
      return go();
    }
  }
}

}  // namespace tutti::detail
TUTTI_API_END

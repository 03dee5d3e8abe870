// SPDX-License-Identifier: Apache-2.0
//
// The body of every point-to-point call: validate the call, fill a frame, pass its message to the
// library.
#pragma once

#include <optional>

#include "tutti/detail/access.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/held_frame.hpp"
#include "tutti/detail/layout_message.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// Sends and receives concurrently. The receive is validated before anything is sent. If the
/// receive throws, the call still waits for the send.
template <class Frame>
auto exchange_messages(communicator_impl& where, Frame& f, int default_tag) {
  const send_args out = f.outgoing(default_tag);
  if constexpr (Frame::in_place) {
    f.validate_capacity();
    validate_recv(where, f.awaited());
    send(where, out);  // the library has a copy
    return f.finish(receive_after_send(where, f.incoming()));
  } else {
    const recv_args in = f.incoming();
    validate_recv(where, in);
    auto pending_send = start_send(where, out);
    envelope received;
    try {
      received = receive_after_send(where, in);
    } catch (...) {
      pending_send->wait();
      throw;
    }
    pending_send->wait();
    return f.finish(received);
  }
}

/// An optional result: an optional of the result of f, or a bool if f returns nothing.
template <class Frame>
auto optional_result(bool is_found, Frame& f, const envelope& received) {
  using result = typename Frame::result_type;
  if constexpr (std::is_void_v<result>) {
    if (is_found) f.finish(received);
    return is_found;
  } else {
    return is_found ? std::optional<result>(f.finish(received)) : std::optional<result>();
  }
}

template <message_form F, class Communicator, class Frame>
auto execute(Communicator& comm, Frame& f) {
  using call = message_call;
  communicator_impl& where = impl_of(comm);
  if constexpr (F.what == call::sendrecv) {
    return exchange_messages(where, f, comm.default_tag());
  } else if constexpr (F.sends()) {
    send(where, f.outgoing(comm.default_tag()));
    return f.finish();
  } else if constexpr (F.what == call::recv) {
    const recv_args in = f.incoming();
    if constexpr (F.matched)
      return f.finish(comm.receive(in));
    else
      return f.finish(receive(where, in));
  } else if constexpr (F.what == call::try_recv) {
    recv_args r = f.incoming();
    envelope received;
    const bool is_found = probe(where, r.operation, r.source, r.tag, false, received);
    if (is_found) {  // the next of this sender and tag is the one that was found
      r.source = received.source;
      r.tag = received.tag;
      received = receive(where, r);
    }
    return optional_result(is_found, f, received);
  } else if constexpr (F.what == call::mprobe) {
    return matched<F.how>(handle_of(comm), f.awaited());  // message.hpp
  } else {
    const recv_args r = f.awaited();
    envelope received;
    const bool is_found = probe(where, r.operation, r.source, r.tag, F.how == mode::blocking, received);
    if constexpr (F.how == mode::blocking)
      return f.finish(received);
    else
      return optional_result(is_found, f, received);
  }
}

/// Executes a validated call; T is the type of the received elements.
template <message_form F, class T, class Communicator, class... Args>
auto invoke_validated_message(Communicator& comm, Args&&... args) {
  [[maybe_unused]] communicator_impl& where = impl_of(comm);
  if constexpr (requests_layouts<std::remove_cvref_t<Args>...>)
    (report_layout_in_message<T, std::remove_cvref_t<Args>...>(without_const(args)), ...);
  constexpr bool with_layouts = has_layouts<std::remove_cvref_t<Args>...>;
  if constexpr (F.how == mode::blocking || !(F.sends() || F.receives())) {
    message_frame_for<F, T, std::remove_cvref_t<Args>&...> f(where, without_const(args)...);
    return execute<F>(comm, f);
  } else {
    using held = held_frame<message_frame_for<F, T, std::remove_cvref_t<Args>...>>;
    auto storage = held::make(handle_of(comm), static_cast<Args&&>(args)...);
    auto& f = storage->frame;
    if constexpr (F.sends()) {
      const send_args out = f.outgoing(comm.default_tag());
      if constexpr (F.how == mode::nonblocking) {
        return begin_call(
            std::move(storage), [&] { return begun<with_layouts>(f, start_send(where, out)); },
            without_const(args)...);
      } else {
        auto prepared = begun<with_layouts>(f, prepare_send(where, out));
        return plan<typename held::result_type>(std::move(storage), std::move(prepared));
      }
    } else {
      const recv_args in = f.incoming();
      if constexpr (F.matched) {
        return begin_call(
            std::move(storage), [&] { return begun<with_layouts>(f, comm.start_receive(in)); },
            without_const(args)...);
      } else if constexpr (F.how == mode::nonblocking) {
        return begin_call(
            std::move(storage), [&] { return begun<with_layouts>(f, start_receive(where, in)); },
            without_const(args)...);
      } else {
        auto prepared = begun<with_layouts>(f, prepare_receive(where, in));
        return plan<typename held::result_type>(std::move(storage), std::move(prepared));
      }
    }
  }
}

/// A call with buffers that are objects to serialize; defined in detail/objects.hpp.
template <message_form F, class T, class Communicator, class... Args>
auto invoke_message_with_objects(Communicator& comm, Args&&... args);

template <message_form F, class T, class Communicator, class... Args>
auto invoke_message(Communicator& comm, Args&&... args) {
  if constexpr ((holds_object<std::remove_cvref_t<Args>> || ...)) {
    return invoke_message_with_objects<F, T>(comm, static_cast<Args&&>(args)...);
  } else {
    constexpr argument_error v = error_of_call<F, T, std::remove_cvref_t<Args>...>();
    if constexpr (v.what != problem::none) {
      diagnostic<v.what, v.which>{};
      return rejected_call_result{};
    } else {
      using element = typename element_in<F, T, std::remove_cvref_t<Args>...>::type;
      note_call(impl_of(comm), args...);
      return invoke_validated_message<F, element>(comm, static_cast<Args&&>(args)...);
    }
  }
}

/// Without arguments only the call itself knows its source location.
template <message_form F, class T, class Communicator>
auto invoke_message_alone(Communicator& comm, const std::source_location& at) {
  set_call_site(impl_of(comm), at);
  return invoke_message<F, T>(comm);
}

}  // namespace tutti::detail
TUTTI_API_END

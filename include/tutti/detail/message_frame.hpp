// SPDX-License-Identifier: Apache-2.0
//
// One message from its arguments to its result, the counterpart of frame.hpp for collectives: the
// send data, the receive buffer, and the result.
#pragma once

#include "tutti/detail/export.hpp"
#include "tutti/detail/frame_base.hpp"
#include "tutti/detail/message_rules.hpp"
#include "tutti/detail/p2p_abi.hpp"
#include "tutti/error.hpp"
#include "tutti/status.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// The frame_base of a message.
template <message_form F, class T, class... Args>
struct message_frame_of {
  static constexpr bool in_place =
      ((parameter_of<std::remove_reference_t<Args>> == parameter::send_recv_buf) || ...);
  static constexpr parameter out = in_place ? parameter::send_recv_buf : parameter::recv_buf;
  using new_container =
      std::conditional_t<F.receives(), std::conditional_t<F.single, T, default_container<T>>, void>;
  using base = frame_base<new_container, new_container, out, F.how == mode::persistent, Args...>;
};

/// T is the type of the received elements.
template <message_form F, class T, class... Args>
class message_frame : public message_frame_of<F, T, Args...>::base {
 protected:
  using enum parameter;
  using base = typename message_frame_of<F, T, Args...>::base;
  friend base;
  using base::explicit_out;
  using base::out;
  using base::out_policy;
  using typename base::out_type;
  using typename base::parts;

  template <parameter N>
  static constexpr bool has = base::template has<N>;
  template <parameter N>
  static constexpr bool has_in = base::template has_in<N>;
  template <parameter N>
  auto& data() noexcept {
    return base::template data<N>();
  }
  template <parameter N, parameter Or>
  int given_or(int otherwise) noexcept {
    if constexpr (has<N>)
      return data<N>();
    else if constexpr (has<Or>)
      return data<Or>();
    else
      return otherwise;
  }

  auto& sent() noexcept {
    if constexpr (in_place)
      return out();
    else
      return data<send_buf>();
  }
  static constexpr send_modes default_mode() {
    switch (F.what) {
      case message_call::ssend:
        return send_modes::synchronous;
      case message_call::bsend:
        return send_modes::buffered;
      case message_call::rsend:
        return send_modes::ready;
      default:
        // In place the receive overwrites the buffer, so the library sends a copy.
        return in_place ? send_modes::buffered : send_modes::standard;
    }
  }

  caller site() const noexcept { return {where_, F}; }

  // The destination and tag, without contents.
  send_args destination_args(int default_tag) noexcept {
    send_args l;
    l.operation = api_name(F);
    l.destination = data<destination>();
    l.tag = given_or<send_tag, tag>(default_tag);
    l.mode = default_mode();
    if constexpr (has<send_mode>) l.mode = data<send_mode>();
    return l;
  }

  // Called once the length is known. After a usage_error the message stays. After an exception of
  // the container the message is discarded.
  static void* allocate(void* state, const envelope& what) {
    auto& self = *static_cast<message_frame*>(state);
    const std::size_t n = what.bytes / sizeof(T);
    if constexpr (F.single) {
      if (n != 1 && what.source != rank::null) reject_not_single(self.site(), recv_buf, n);
      return address_of(self.out());
    } else {
      return self.reserve(self.site(), n, sizeof(T));
    }
  }

  // Called if the container threw when it was resized to recv_count. It tries again; if the
  // container throws again, the message is discarded.
  static void* allocate_count(void* state, const envelope& what) {
    auto& self = *static_cast<message_frame*>(state);
    const auto n = static_cast<std::size_t>(self.template data<recv_count>());
    void* const memory = self.reserve(self.site(), n, sizeof(T));
    if (what.bytes > n * sizeof(T))
      reject_size(self.site(), message_frame_of<F, T, Args...>::out, n, what.bytes / sizeof(T));
    return memory;
  }

  // Makes room for recv_count elements. If the container throws, the receive must nevertheless take
  // its message, so that the sender does not wait.
  void reserve_count(recv_args& r) {
    const std::size_t n = validated_count(site(), recv_count, data<recv_count>());
    r.capacity = n * sizeof(T);
    if constexpr (out_policy() == resize_policy::no_resize) {
      r.into = this->reserve(site(), n, sizeof(T));
    } else {
      try {
        r.into = this->reserve(site(), n, sizeof(T));
      } catch (const error&) {
        throw;
      } catch (...) {
        r.allocate = &message_frame::allocate_count;
        r.state = this;
      }
    }
  }

 public:
  using typename base::result_type;
  static constexpr bool in_place = message_frame_of<F, T, Args...>::in_place;
  static constexpr bool is_message = true;

  template <class... U>
  explicit message_frame(communicator_impl& where, U&&... arguments)
      : base(static_cast<U&&>(arguments)...), where_(where) {}

  /// The outgoing message. Throws usage_error if the count does not match the buffer.
  send_args outgoing(int default_tag) {
    auto& buffer = sent();
    std::size_t n = size_of(buffer);
    if constexpr (has_in<send_count>) {
      const std::size_t holds = n;
      n = validated_count(site(), send_count, data<send_count>());
      validate_within(site(), send_count, n, holds);
    }
    this->template put_count<send_count>(site(), n);
    send_args l = destination_args(default_tag);
    l.data = data_of(buffer);
    l.bytes = n * sizeof(*data_of(buffer));
    return l;
  }

  /// For in-place calls, before the data is sent. Throws usage_error if a given count will not fit
  /// later.
  void validate_capacity() {
    if constexpr (has_in<recv_count> && out_policy() == resize_policy::no_resize)
      this->reserve(site(), validated_count(site(), recv_count, data<recv_count>()), sizeof(T));
  }

  /// The source and tag of the awaited message.
  recv_args awaited() noexcept {
    recv_args r;
    r.operation = api_name(F);
    r.source = given_or<source, source>(rank::any);
    r.tag = given_or<recv_tag, tag>(tags::any);
    return r;
  }

  /// The same with its buffer. Throws usage_error if a given count exceeds the buffer.
  recv_args incoming() {
    recv_args r = awaited();
    r.element = sizeof(T);
    if constexpr (has_in<recv_count>) {
      reserve_count(r);
    } else {
      r.allocate = &message_frame::allocate;
      r.state = this;
    }
    return r;
  }

  /// Called when the message is complete. It may be called again after each run of a persistent
  /// call.
  result_type finish(const envelope& received = {}) {
    if constexpr (F.receives()) {
      const std::size_t n = received.bytes / sizeof(T);
      // A count only limited the length, and rank::null sends nothing: the actual length is known
      // only now.
      constexpr bool fits = !F.single && argument_shape_of<out_type>() == argument_shape::contiguous &&
                            out_policy() == resize_policy::resize_to_fit;
      constexpr bool used_again = F.how == mode::persistent && has_in<recv_count>;
      if constexpr (fits && !used_again)
        if (size_of(out()) != n) out().resize(n);
      this->template put_count<recv_count>(site(), n);
    }
    if constexpr (is_object_buffer<out_type>) out().unpack(received);
    if constexpr (has<status>) data<status>() = tutti::status(received);
    return base::make_result(*this, parts{});
  }

 private:
  communicator_impl& where_;
};

}  // namespace tutti::detail
TUTTI_API_END

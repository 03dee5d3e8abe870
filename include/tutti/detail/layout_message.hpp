// SPDX-License-Identifier: Apache-2.0
//
// A message with buffers that hold items of a layout, the counterpart of layout_call.hpp for
// collectives. A message is bytes, so there is no second frame: this frame provides the packed
// bytes, and counts items.
#pragma once

#include "tutti/detail/export.hpp"
#include "tutti/detail/layout_call.hpp"
#include "tutti/detail/message_frame.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

/// Writes the layout of an element of the buffer where it is requested; T is the type of the
/// received elements.
template <class T, class... Args, class A>
void report_layout_in_message(A& a) {
  using sent =
      typename first_non_void<void, typename element_of_argument<parameter::send_buf, Args>::type...>::type;
  if constexpr (parameter_of<A> == parameter::send_type)
    report_layout<sent>(a);
  else
    report_layout<T>(a);
}

/// T is the type of the received elements, unless they have a layout.
template <message_form F, class T, class... Args>
class layout_message_frame : public message_frame<F, T, Args...> {
  using enum parameter;
  using base = message_frame<F, T, Args...>;
  using typename base::parts;
  template <parameter N>
  static constexpr bool given = base::template has_in<N>;

  static constexpr parameter in_type = base::in_place ? send_recv_type : send_type;
  static constexpr parameter out_type = base::in_place ? send_recv_type : recv_type;
  static constexpr bool send_has_layout = given<in_type>;
  static constexpr bool recv_has_layout = given<out_type>;

  staging::side& target() noexcept { return base::in_place ? stage_.in : stage_.out; }

  template <class Buffer>
  void open(staging::side& side, parameter name, parameter type, const layout& item, Buffer& buffer) {
    stage_.open(side, name, type, item, data_of(buffer), size_of(buffer) * sizeof(*data_of(buffer)));
  }

  // Bytes of a number of items. Throws if it overflows.
  template <parameter Name>
  long long bytes_of(const staging::side& side) {
    const std::size_t n = validated_count(this->site(), Name, this->template data<Name>());
    const long long bytes = stage_.scaled(this->site(), Name, static_cast<long long>(n), side);
    stage_.rethrow_fault();
    return bytes;
  }

  // Returns memory for `bytes` bytes. Throws if they exceed the buffer.
  void* prepare_buffer(staging::side& side, std::size_t bytes) {
    stage_.set_receive_length(this->site(), side, bytes);
    side.resize(bytes);
    return side.data();
  }

  // The same as for a message frame.
  static void* allocate(void* state, const envelope& what) {
    auto& self = *static_cast<layout_message_frame*>(state);
    staging::side& side = self.target();
    if (side.per_item() == 0 && what.bytes != 0)
      reject_message(self.site(), out_type, "items of 0 bytes cannot receive a message that is not empty");
    return self.prepare_buffer(side, what.bytes);
  }

 public:
  using typename base::result_type;

  template <class... U>
  explicit layout_message_frame(communicator_impl& where, U&&... arguments)
      : base(where, static_cast<U&&>(arguments)...) {
    if constexpr (send_has_layout)
      open(stage_.in, base::in_place ? send_recv_buf : send_buf, in_type, this->template data<in_type>(),
           this->sent());
    if constexpr (recv_has_layout && !base::in_place)
      open(stage_.out, recv_buf, out_type, this->template data<out_type>(), this->out());
    stage_.set_element_size(this->site(), 1, 1, false);
  }

  send_args outgoing(int default_tag) {
    if constexpr (send_has_layout) {
      stage_.set_send_length(this->site(), send_count, bytes_of<send_count>(stage_.in), 1);
      stage_.rethrow_fault();
      if constexpr (F.how != mode::persistent) stage_.pack();
      send_args l = this->destination_args(default_tag);
      l.data = stage_.in.data();
      l.bytes = stage_.in.size();
      return l;
    } else {
      return base::outgoing(default_tag);
    }
  }

  void validate_capacity() {
    if constexpr (!recv_has_layout)
      base::validate_capacity();
    else if constexpr (given<recv_count>)
      stage_.set_receive_length(this->site(), target(),
                                static_cast<std::size_t>(bytes_of<recv_count>(target())));
  }

  recv_args incoming() {
    if constexpr (recv_has_layout) {
      recv_args r = this->awaited();
      r.element = target().per_item() == 0 ? 1 : target().per_item();
      if constexpr (given<recv_count>) {
        r.capacity = static_cast<std::size_t>(bytes_of<recv_count>(target()));
        r.into = prepare_buffer(target(), r.capacity);
      } else {
        r.allocate = &layout_message_frame::allocate;
        r.state = this;
      }
      return r;
    } else {
      return base::incoming();
    }
  }

  pending_call wrap(pending_call made) { return stage_.wrap(std::move(made), F.how == mode::nonblocking); }

  result_type finish(const envelope& received = {}) {
    if constexpr (recv_has_layout) {
      if constexpr (F.how == mode::blocking) {
        staging::arrived(target(), received.bytes);
        stage_.unpack();
      }
      const std::size_t per = target().per_item();
      this->template put_count<recv_count>(this->site(), per == 0 ? 0 : received.bytes / per);
      if constexpr (base::template has<status>) this->template data<status>() = tutti::status(received);
      return base::make_result(*this, parts{});
    } else {
      return base::finish(received);
    }
  }

 private:
  staging stage_;
};

/// The frame that executes a message with these arguments.
template <message_form F, class T, class... Args>
using message_frame_for =
    std::conditional_t<has_layouts<std::remove_reference_t<Args>...>, layout_message_frame<F, T, Args...>,
                       message_frame<F, T, Args...>>;

}  // namespace tutti::detail
TUTTI_API_END

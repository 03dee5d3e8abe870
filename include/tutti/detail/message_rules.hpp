// SPDX-License-Identifier: Apache-2.0
//
// The parameters of each point-to-point call, the counterpart of collective_rules.hpp for
// collectives.
#pragma once

#include "tutti/detail/collective_rules.hpp"
#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti::detail {

constexpr rules rules_of(message_form f) {
  using enum parameter;
  rules r;
  if (f.sends()) {
    r.buffer = send_buf;
    r.in = r.in | parameter_set{send_buf, send_count, destination, tag};
    r.out = r.out | parameter_set{send_buf, send_count};
    r.required.add(destination);
    if (f.what == message_call::send) r.in.add(send_mode);
  }
  if (f.what == message_call::sendrecv) r.in = r.in | parameter_set{send_recv_buf, send_tag, recv_tag};
  const bool waits_for_one = f.what >= message_call::sendrecv;
  if (waits_for_one && !f.matched) r.in = r.in | parameter_set{source, tag};
  if (waits_for_one && f.what != message_call::mprobe) r.out.add(status);
  if (f.receives()) {
    r.makes = r.needs_type = true;
    if (!f.single) {
      r.in.add(recv_count);
      r.out = r.out | parameter_set{recv_buf, recv_count};
    }
  }
  if (!f.single) add_types(r, false);
  if (f.how == mode::nonblocking && (f.receives() || f.sends())) r.in.add(request);
  return r;
}

// The receive buffer determines the type. The send buffer of the same call may have another type,
// and so may a buffer with a layout.
template <message_form F, class T, class... Args>
struct element_in<F, T, Args...> {
  using type =
      typename first_non_void<T, typename element_of_argument<parameter::recv_buf, Args>::type...,
                              typename element_of_argument<parameter::send_recv_buf, Args>::type...,
                              typename element_of_argument<parameter::send_buf, Args>::type...>::type;
  template <class A>
  using for_argument = std::conditional_t<parameter_of<A> == parameter::send_buf ||
                                              has_layout(types_given<Args...>(), parameter_of<A>),
                                          void, type>;
};

}  // namespace tutti::detail
TUTTI_API_END

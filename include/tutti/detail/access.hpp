// SPDX-License-Identifier: Apache-2.0
//
// From a public object of the program to the library's object behind it. Only the library and its
// front ends use this; the public classes have no such members.
//
// ```cpp
// detail::set_call_site(detail::impl_of(world), std::source_location::current());
// ```
#pragma once

#include "tutti/detail/form.hpp"
#include "tutti/detail/owner.hpp"

namespace tutti::detail {

/// A friend of communicator, graph_communicator, intercommunicator and message.
struct access {
  template <class Communicator>
  [[gnu::always_inline]] static communicator_impl& impl(const Communicator& c) noexcept(
      noexcept(c.native())) {
    return c.native();
  }
  template <class Communicator>
  [[gnu::always_inline]] static const communicator_handle& handle(const Communicator& c) noexcept(
      noexcept(c.shared())) {
    return c.shared();
  }
  template <class Communicator>
  [[gnu::always_inline]] static auto site(const Communicator& c, collective_form f) noexcept {
    return c.site(f);
  }
};

/// The object behind a communicator or a message. Throws usage_error if the message was received.
template <class Communicator>
[[gnu::always_inline]] inline communicator_impl& impl_of(const Communicator& c) noexcept(
    noexcept(access::impl(c))) {
  return access::impl(c);
}
/// The same as a holder of it.
template <class Communicator>
[[gnu::always_inline]] inline const communicator_handle& handle_of(const Communicator& c) noexcept(
    noexcept(access::handle(c))) {
  return access::handle(c);
}

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// A matched message that has not been received yet: the result of mprobe() and improbe().
#pragma once

#include <source_location>

#include "tutti/detail/diagnostic.hpp"  // first: every error message contains its include path
#include "tutti/detail/export.hpp"
#include "tutti/detail/invoke_message.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// One matched message, which no other receive can take. Its holder receives it, whatever else this
/// rank receives in between. The destructor returns an unreceived message to the queue, before all
/// others.
///
/// It can be moved. After it is received it holds no message, and its calls throw usage_error. A
/// rejected receive leaves the message. A receive that recv_count truncates consumes it. So does a
/// receive whose container throws when it is resized (std::bad_alloc).
///
/// ```cpp
/// auto sent = world.isend(send_buf({1, 2, 3}), destination(world.rank()), tag(5));
/// message m = world.mprobe(tag(5));
/// std::vector<int> v(m.status().count<int>());
/// m.recv(recv_buf(v));
/// sent.wait();
/// assert(v[2] == 3 && !m.valid());
/// ```
class [[nodiscard]] message {
 public:
  message() noexcept = default;
  message(message&& other) noexcept
      : where_(std::move(other.where_)),
        matched_(std::exchange(other.matched_, nullptr)),
        what_(other.what_) {}
  message& operator=(message&& other) noexcept {
    if (this == &other) return *this;
    drop();
    where_ = std::move(other.where_);
    matched_ = std::exchange(other.matched_, nullptr);
    what_ = other.what_;
    return *this;
  }
  ~message() { drop(); }

  tutti::status status() const noexcept { return tutti::status(what_); }  ///< sender, tag, length
  bool valid() const noexcept { return static_cast<bool>(where_); }       ///< it can be received

  /// The same as communicator's, without source and tag: `recv<T>([recv_buf], [recv_count(_out)],
  /// [recv_type(_out)], [status(_out)])`.
  template <class T = void, class... Args>
  auto recv(Args&&... args) {
    return detail::invoke_message<form(detail::mode::blocking, false), T>(
        *this, detail::named(static_cast<Args&&>(args))...);
  }
  template <class T = void>
  auto recv(std::source_location at = std::source_location::current()) {
    return detail::invoke_message_alone<form(detail::mode::blocking, false), T>(*this, at);
  }
  template <class T = void, class... Args>
  auto recv_single(Args&&... args) {
    return detail::invoke_message<form(detail::mode::blocking, true), T>(
        *this, detail::named(static_cast<Args&&>(args))...);
  }
  template <class T = void>
  auto recv_single(std::source_location at = std::source_location::current()) {
    return detail::invoke_message_alone<form(detail::mode::blocking, true), T>(*this, at);
  }
  /// The same as communicator's irecv; the request takes over the message.
  template <class T = void, class... Args>
  auto irecv(Args&&... args) {
    return detail::invoke_message<form(detail::mode::nonblocking, false), T>(
        *this, detail::named(static_cast<Args&&>(args))...);
  }
  template <class T = void>
  auto irecv(std::source_location at = std::source_location::current()) {
    return detail::invoke_message_alone<form(detail::mode::nonblocking, false), T>(*this, at);
  }
  template <class T = void, class... Args>
  auto irecv_single(Args&&... args) {
    return detail::invoke_message<form(detail::mode::nonblocking, true), T>(
        *this, detail::named(static_cast<Args&&>(args))...);
  }
  template <class T = void>
  auto irecv_single(std::source_location at = std::source_location::current()) {
    return detail::invoke_message_alone<form(detail::mode::nonblocking, true), T>(*this, at);
  }

  // For the library.
  message(const detail::communicator_handle& where, detail::matched_message* matched,
          const detail::envelope& what)
      : where_(where), matched_(matched), what_(what) {}
  detail::envelope receive(detail::recv_args);
  detail::pending_call start_receive(detail::recv_args);

 private:
  friend struct detail::access;
  detail::communicator_impl& native() const { return *shared(); }
  const detail::communicator_handle& shared() const {
    if (!where_) reject_empty();
    return where_;
  }
  static constexpr detail::message_form form(detail::mode how, bool single) {
    return {detail::message_call::recv, how, single, true};
  }
  void drop() noexcept {
    if (matched_ != nullptr) detail::put_back(*where_, std::exchange(matched_, nullptr));
    where_ = {};
  }
  void match_exactly(detail::recv_args&) const noexcept;
  [[noreturn]] static void reject_empty();

  detail::communicator_handle where_;
  detail::matched_message* matched_ = nullptr;  // also null for a message from rank::null
  detail::envelope what_;
};

namespace detail {

/// The message that a receive would take. The blocking form waits for one; the other form returns
/// an optional.
template <mode How>
auto matched(const communicator_handle& where, const recv_args& r) {
  envelope what;
  matched_message* found = mprobe(*where, r.operation, r.source, r.tag, How == mode::blocking, what);
  if constexpr (How == mode::blocking)
    return message(where, found, what);
  else if (found == nullptr && r.source != rank::null)
    return std::optional<message>();
  else
    return std::optional<message>(std::in_place, where, found, what);
}

}  // namespace detail
}  // namespace tutti
TUTTI_API_END

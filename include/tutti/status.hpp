// SPDX-License-Identifier: Apache-2.0
//
// What is known of a message besides its elements: who sent it, its tag, its length. Also the parameters that
// ask for it: status_out(), status(s), and of several messages statuses_out(), statuses(v).
#pragma once

#include <concepts>
#include <type_traits>

#include "tutti/core/mail.hpp"
#include "tutti/face/argument.hpp"

namespace tutti {

/// What a receive or a probe says of its message. Of a message from rank::null, and of what is no receive:
/// source rank::null, tag tags::any, no bytes.
///
/// `status(s)` in a call is the parameter: it writes into s, as status_out(s). For this a status that is made
/// from an lvalue that is not const remembers it, besides having its values; anything else that is done with
/// such a status is what one expects of a copy. A const s is refused with usage_error, status_out(s) of one
/// by the compiler.
///
/// ```cpp
/// int x = 7;
/// auto sent = world.isend(send_buf(x), destination(world.rank()), tag(3));
/// status s;
/// std::vector<int> v = world.recv<int>(source(rank::any), status(s));
/// sent.wait();
/// assert(v[0] == 7 && s.source() == world.rank() && s.tag() == 3 && s.count<int>() == 1);
///
/// auto again = world.isend(send_buf(x), destination(world.rank()));
/// auto [w, how] = world.recv<int>(status_out());
/// again.wait();
/// assert(w[0] == 7 && how.tag() == 0);
/// ```
class status {
 public:
  status() noexcept = default;
  status(const status& other) noexcept : what_(other.what_) {}
  /// As a parameter: written by the call.
  explicit status(status& into) noexcept : what_(into.what_), into_(&into) {}
  status& operator=(const status& other) noexcept {
    what_ = other.what_;
    return *this;
  }
  /// Anything else is no parameter.
  explicit status(detail::anything_else) = delete;
  // For the library.
  explicit status(const detail::envelope& what) noexcept : what_(what) {}

  int source() const noexcept { return what_.source; }        ///< rank of the sender
  int tag() const noexcept { return what_.tag; }              ///< as it was sent
  std::size_t bytes() const noexcept { return what_.bytes; }  ///< of the message
  /// Elements of type T in the message. Throws usage_error where it is not a whole number of them.
  template <class T>
  std::size_t count() const {
    if (what_.bytes % sizeof(T) != 0) refuse_count(sizeof(T));
    return what_.bytes / sizeof(T);
  }
  friend bool operator==(const status& a, const status& b) noexcept {
    return a.source() == b.source() && a.tag() == b.tag() && a.bytes() == b.bytes();
  }

  // For calls: this as a named parameter.
  auto named_argument() && {
    if (into_ == nullptr) refuse_unnamed();
    return detail::argument<parameter::status, detail::flow::out, no_resize, status&>{*into_};
  }

 private:
  [[noreturn]] void refuse_count(std::size_t element) const;
  [[noreturn]] static void refuse_unnamed();

  detail::envelope what_;
  status* into_ = nullptr;
};

/// Writes what is known of the message into s, which status(s) does too; without s it is part of the result,
/// as extract_status().
template <class Status>
requires std::same_as<std::remove_const_t<Status>, status>
constexpr auto status_out(Status& s) {
  return detail::argument<parameter::status, detail::flow::out, no_resize, Status&>{s};
}
inline auto status_out() {
  return detail::argument<parameter::status, detail::flow::out, no_resize, status>{};
}

/// The same of several calls, of wait_all() and test_all(): one status for each, in their order, in a
/// contiguous container that is resized as its policy says. usage_error where it is too small.
template <resize_policy Policy = no_resize, class C>
constexpr auto statuses_out(C& container, std::source_location at = std::source_location::current()) {
  return detail::argument<parameter::statuses, detail::flow::out, Policy, C&>{container, at};
}
template <resize_policy Policy = no_resize, class C>
constexpr auto statuses(C& container, std::source_location at = std::source_location::current()) {
  return statuses_out<Policy>(container, at);
}
template <class C = std::vector<status>>
constexpr auto statuses_out(std::source_location at = std::source_location::current()) {
  return detail::argument<parameter::statuses, detail::flow::out, resize_to_fit, C>{C(), at};
}

}  // namespace tutti

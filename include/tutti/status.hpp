// SPDX-License-Identifier: Apache-2.0
//
// The status of a message: its sender, its tag, its length. This header also has the parameters
// that request it: status_out(), status(s), and for several messages statuses_out(), statuses(v).
#pragma once

#include <concepts>
#include <type_traits>

#include "tutti/detail/argument.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/p2p_abi.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// The status of the message of a receive or a probe. For rank::null, and for calls that are not
/// receives, the source is rank::null, the tag tags::any, and the length 0 bytes.
///
/// As a parameter, `status(s)` writes into s, the same as status_out(s). A status that is
/// constructed from a non-const lvalue therefore refers to it, and also copies its values. In every
/// other use such a status behaves like a copy. A call throws usage_error for a const s in
/// status(s); a const s in status_out(s) does not compile.
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
  /// As a parameter: the call writes into `into`.
  explicit status(status& into) noexcept : what_(into.what_), into_(&into) {}
  status& operator=(const status& other) noexcept {
    what_ = other.what_;
    return *this;
  }
  /// Rejects every other argument.
  explicit status(detail::anything_else) = delete;
  // For the library.
  explicit status(const detail::envelope& what) noexcept : what_(what) {}

  int source() const noexcept { return what_.source; }        ///< rank of the sender
  int tag() const noexcept { return what_.tag; }              ///< the tag it was sent with
  std::size_t bytes() const noexcept { return what_.bytes; }  ///< length of the message
  /// The number of elements of type T in the message. Throws usage_error if it is not a whole
  /// number.
  template <class T>
  std::size_t count() const {
    if (what_.bytes % sizeof(T) != 0) reject_count(sizeof(T));
    return what_.bytes / sizeof(T);
  }
  friend bool operator==(const status& a, const status& b) noexcept {
    return a.source() == b.source() && a.tag() == b.tag() && a.bytes() == b.bytes();
  }

  // For calls: this as a named parameter.
  auto named_argument() && {
    if (into_ == nullptr) reject_unnamed();
    return detail::argument<parameter::status, detail::data_direction::out, no_resize, status&>{*into_};
  }

 private:
  [[noreturn]] void reject_count(std::size_t element) const;
  [[noreturn]] static void reject_unnamed();

  detail::envelope what_;
  status* into_ = nullptr;
};

/// Writes the status of the message into s, the same as status(s). Without s it is part of the
/// result, as extract_status().
template <class Status>
requires std::same_as<std::remove_const_t<Status>, status>
constexpr auto status_out(Status& s) {
  return detail::argument<parameter::status, detail::data_direction::out, no_resize, Status&>{s};
}
inline auto status_out() {
  return detail::argument<parameter::status, detail::data_direction::out, no_resize, status>{};
}

/// The same for wait_all() and test_all(): one status for each call, in their order, in a
/// contiguous container that is resized as its policy requires. The call throws usage_error if it
/// is too small.
template <resize_policy Policy = no_resize, class C>
constexpr auto statuses_out(C& container, std::source_location at = std::source_location::current()) {
  return detail::argument<parameter::statuses, detail::data_direction::out, Policy, C&>{container, at};
}
template <resize_policy Policy = no_resize, class C>
constexpr auto statuses(C& container, std::source_location at = std::source_location::current()) {
  return statuses_out<Policy>(container, at);
}
template <class C = std::vector<status>>
constexpr auto statuses_out(std::source_location at = std::source_location::current()) {
  return detail::argument<parameter::statuses, detail::data_direction::out, resize_to_fit, C>{C(), at};
}

}  // namespace tutti
TUTTI_API_END

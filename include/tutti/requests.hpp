// SPDX-License-Identifier: Apache-2.0
//
// Functions that wait for several unfinished calls at once.
//
// Each function takes a range (a vector, an array, a list) of request, or of
// nonblocking_result<void> as isend() and ibarrier() return it. It skips an element that holds no
// call, such as a request after wait(), and gives it an empty status. It releases a complete call:
// the element is no longer valid().
//
// If calls throw, wait_all() still waits for the others, and throws the first exception in the
// order of the range. The other functions throw at once. A call that threw is
// released. A thread that does not run the rank gets a usage_error, and the calls stay as they are.
//
// If another rank has rejected an earlier call, each function may throw its peer_error. That call
// need not be in the range. wait_all() first waits for all calls. The other functions release no
// call then, so the program can repeat them.
//
// A request that was constructed from another request, as in `v.emplace_back(r)`, is a parameter.
// If the range contains one, each function throws usage_error before it waits.
//
// ```cpp
// std::vector<request> requests(3);
// std::vector<int> v = {1, 2, 3}, w(3);
// for (int i = 0; i < 3; ++i) {
//   world.isend(send_buf(v[i]), destination(world.rank()), tag(i), request(requests[i]));
// }
// for (int i = 0; i < 3; ++i) world.recv(recv_buf(w[i]), tag(i));
// std::vector<status> how = wait_all(requests, statuses_out());
// assert(w == v && how.size() == 3 && !requests[0].valid());
// ```
#pragma once

#include <exception>
#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "tutti/detail/collective_rules.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/held_frame.hpp"

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

/// The operations of the functions below on one of their calls. `owned_call` is also the base of
/// a request.
struct request_operations {
  using one = owned_call<void>;
  /// In a handler: whether the exception leaves the call under way, because the thread does not run
  /// its rank.
  static bool keeps_call() noexcept;
  /// Makes progress; releases a call that throws, unless keeps_call().
  static bool complete(one&, const char* operation, const std::source_location& at = {});
  static status finish(one&);  ///< of a complete call
  /// Waits until the call is over. Keeps the first rejection of another rank that is due meanwhile.
  static void wait_to_end(pending&, std::exception_ptr& first);
  /// The same, and keeps also what the call throws. Releases the call, unless keeps_call().
  static status wait(one&, const char* operation, const std::source_location& at, std::exception_ptr& first);

  /// Throws usage_error if an element is a parameter that was constructed from another request.
  template <class Range>
  static void validate(Range& range, const char* operation, const std::source_location& at) {
    for (auto&& each : range)
      if constexpr (std::is_convertible_v<decltype(each), request&>)
        static_cast<request&>(each).validate_no_parameter(operation, at);
  }

  [[noreturn]] static void reject_statuses(const char* operation, std::size_t holds, std::size_t needed);
  /// Returns memory for the statuses of a range.
  template <class Statuses, class Range>
  static status* reserve_statuses(const char* operation, Statuses& statuses, Range& range) {
    std::size_t n = 0;
    for ([[maybe_unused]] const one& each : range) ++n;
    if (!fit<Statuses::policy>(statuses.data, n)) reject_statuses(operation, size_of(statuses.data), n);
    return data_of(statuses.data);
  }
};

/// The error in the arguments of a function that takes `out` at most once, and nothing else.
template <parameter Out, class... Args>
consteval argument_error error_of_request_call() {
  rules r;
  r.out.add(Out);
  if constexpr (sizeof...(Args) == 0) {
    return {};
  } else {
    constexpr argument_properties properties[] = {properties_in<void, Args>...};
    return find_error(r, true, properties, sizeof...(Args));
  }
}

template <class Range>
void wait_for_all(Range& range, status* to, const std::source_location& at) {
  request_operations::validate(range, "wait_all", at);
  std::exception_ptr first;
  for (request_operations::one& each : range) {
    const status what = request_operations::wait(each, "wait_all", at, first);
    if (to != nullptr) *to++ = what;
  }
  if (first) std::rethrow_exception(first);
}

template <class Range>
bool test_for_all(Range& range, status* to, const std::source_location& at) {
  request_operations::validate(range, "test_all", at);
  bool all = true;
  for (request_operations::one& each : range)
    if (!request_operations::complete(each, "test_all", at)) all = false;
  if (!all) return false;
  for (request_operations::one& each : range) {
    const status what = request_operations::finish(each);
    if (to != nullptr) *to++ = what;
  }
  return true;
}

/// wait_any() and test_any(): the first complete call.
template <bool Wait, class Range, class... Args>
auto any_of(Range& range, const std::source_location& at, Args&&... args) {
  constexpr argument_error v = error_of_request_call<parameter::status, std::remove_cvref_t<Args>...>();
  if constexpr (v.what != problem::none) diagnostic<v.what, v.which>{};
  request_operations::validate(range, Wait ? "wait_any" : "test_any", at);
  status what;
  std::optional<std::size_t> index;
  for (bool left = true; left && !index;) {
    left = false;
    std::size_t i = 0;
    for (request_operations::one& each : range) {
      if (each.valid() && !index) {
        left = Wait;
        if (request_operations::complete(each, Wait ? "wait_any" : "test_any", at)) {
          index = i;
          what = request_operations::finish(each);
        }
      }
      ++i;
    }
  }
  if constexpr (v.what != problem::none || sizeof...(Args) == 0) {
    return index;
  } else if constexpr ((std::remove_reference_t<Args>::owning && ...)) {
    return index ? std::optional(std::pair(*index, what)) : std::nullopt;
  } else {
    if (index) ((args.data = what), ...);
    return index;
  }
}

}  // namespace detail

/// Waits for all calls. With `statuses(v)`, which is `statuses_out(v)`, v then holds one status for
/// each. With `statuses_out()` returns a vector of them, else nothing. Throws usage_error before it
/// waits if v is too small and may not be resized.
template <class Range, class... Args>
requires(sizeof...(Args) > 0) auto wait_all(Range&& requests, Args&&... args) {
  constexpr detail::argument_error v =
      detail::error_of_request_call<parameter::statuses, std::remove_cvref_t<Args>...>();
  if constexpr (v.what != detail::problem::none) {
    detail::diagnostic<v.what, v.which>{};
    return detail::rejected_call_result{};
  } else {
    detail::wait_for_all(requests,
                         (detail::request_operations::reserve_statuses("wait_all", args, requests), ...),
                         detail::first_location(args...));
    if constexpr ((std::remove_reference_t<Args>::owning && ...)) return (std::move(args.data), ...);
  }
}

template <class Range>
void wait_all(Range&& requests, std::source_location at = std::source_location::current()) {
  detail::wait_for_all(requests, nullptr, at);
}

/// Makes progress without waiting, and returns whether all calls are complete. If one is not, no
/// call is released and no status is written. With `statuses_out()` returns an optional of the
/// vector.
template <class Range, class... Args>
requires(sizeof...(Args) > 0) auto test_all(Range&& requests, Args&&... args) {
  constexpr detail::argument_error v =
      detail::error_of_request_call<parameter::statuses, std::remove_cvref_t<Args>...>();
  if constexpr (v.what != detail::problem::none) {
    detail::diagnostic<v.what, v.which>{};
    return detail::rejected_call_result{};
  } else {
    const bool all = detail::test_for_all(
        requests, (detail::request_operations::reserve_statuses("test_all", args, requests), ...),
        detail::first_location(args...));
    if constexpr ((std::remove_reference_t<Args>::owning && ...))
      return all ? std::optional((std::move(args.data), ...)) : std::nullopt;
    else
      return all;
  }
}

template <class Range>
bool test_all(Range&& requests, std::source_location at = std::source_location::current()) {
  return detail::test_for_all(requests, nullptr, at);
}

/// Waits for one call. Returns a std::optional of its index in the range, which is empty if the
/// range holds no call any more. With `status(s)` s receives its status. With `status_out()` the
/// optional contains a pair of index and status.
///
/// ```cpp
/// std::vector<nonblocking_result<void>> calls;
/// calls.push_back(world.ibarrier());
/// calls.push_back(world.ibarrier());
/// std::size_t complete = 0;
/// while (auto index = wait_any(calls)) complete += *index + 1;
/// assert(complete == 3);
/// ```
template <class Range, class... Args>
requires(sizeof...(Args) > 0) auto wait_any(Range&& requests, Args&&... args) {
  return detail::any_of<true>(requests, {}, detail::named(static_cast<Args&&>(args))...);
}
template <class Range>
auto wait_any(Range&& requests, std::source_location at = std::source_location::current()) {
  return detail::any_of<true>(requests, at);
}

/// The same without waiting: the optional is also empty if no call is complete yet.
template <class Range, class... Args>
requires(sizeof...(Args) > 0) auto test_any(Range&& requests, Args&&... args) {
  return detail::any_of<false>(requests, {}, detail::named(static_cast<Args&&>(args))...);
}
template <class Range>
auto test_any(Range&& requests, std::source_location at = std::source_location::current()) {
  return detail::any_of<false>(requests, at);
}

}  // namespace tutti
TUTTI_API_END

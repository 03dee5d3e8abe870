// SPDX-License-Identifier: Apache-2.0
//
// Many unfinished calls at once: pools of requests, and functions that wait for several.
#pragma once

#include <concepts>
#include <deque>
#include <exception>
#include <optional>
#include <utility>
#include <vector>

#include "tutti/kamping/request.hpp"

namespace kamping {
namespace internal {

/// Statuses of several calls, in the caller's container or a new one.
template <class C, tutti::resize_policy Policy>
struct statuses_of {
  C& data;
  void resize_for(std::size_t n) {
    if (!tutti::detail::fit<Policy>(data, n))
      throw MpiErrorException("wait_all: statuses: the container is too small", MPI_ERR_ARG);
  }
};
template <class C>
struct owned_statuses {
  C data{};
  void resize_for(std::size_t n) { data.resize(n); }
};

template <class Parameter>
inline constexpr bool owns_statuses = false;
template <class C>
inline constexpr bool owns_statuses<owned_statuses<C>> = true;

}  // namespace internal

/// One request of a pool.
class PooledRequest {
 public:
  PooledRequest(Request& request, std::size_t index) : request_(&request), index_(index) {}
  Request& get() noexcept { return *request_; }
  std::size_t index() const noexcept { return index_; }
  template <class... Parameter>
  auto wait(Parameter&&... to) {
    return request_->wait(static_cast<Parameter&&>(to)...);
  }
  template <class... Parameter>
  [[nodiscard]] auto test(Parameter&&... to) {
    return request_->test(static_cast<Parameter&&>(to)...);
  }

 private:
  Request* request_;
  std::size_t index_;
};

/// The result of wait_any(status_out()).
template <class Index, class StatusType>
struct PoolAnyResult {
  Index index;
  StatusType status;
};

namespace internal {

// Waits for all, and throws the first exception in the order of the range.
template <class Range, class Each>
void finish_all(Range& range, Each&& each) {
  std::exception_ptr first;
  std::size_t i = 0;
  for (Request& r : range) each(i++, r.finished(first));
  if (first) translating([&] { std::rethrow_exception(first); });
}

// Takes the results of calls that are all complete. No rejection of another rank can come between,
// so no status is lost.
template <class Range, class Each>
void take_all(Range& range, Each&& each) {
  std::size_t i = 0;
  for (Request& r : range) each(i++, r.taken());
}

template <bool Wait, class Range, class Parameter>
auto end_all(Range& range, std::size_t n, Parameter& to) {
  const auto end = [&](auto&& each) {
    if constexpr (Wait)
      finish_all(range, each);
    else
      take_all(range, each);
  };
  if constexpr (std::is_same_v<Parameter, unwanted>) {
    end([](std::size_t, const tutti::status&) {});
  } else {
    to.resize_for(n);
    end([&](std::size_t i, const tutti::status& what) { to.data.data()[i] = Status(what); });
    if constexpr (owns_statuses<Parameter>) return std::move(to.data);
  }
}

// The first call that became complete.
template <class Range>
std::optional<std::size_t> find_complete(Range& range, bool waits, tutti::status& what) {
  for (;;) {
    bool left = false;
    std::size_t i = 0;
    for (Request& r : range) {
      if (!r.is_null()) {
        left = true;
        if (const auto done = r.tested()) {
          what = *done;
          return i;
        }
      }
      ++i;
    }
    if (!left || !waits) return std::nullopt;
  }
}

}  // namespace internal

/// Any number of requests. get_request() gives one to a call; references to it stay valid.
class RequestPool {
 public:
  /// `comm.isend(send_buf(v), destination(1), request(pool.get_request()));`
  PooledRequest get_request() {
    requests_.emplace_back();
    return {requests_.back(), requests_.size() - 1};
  }
  std::size_t num_requests() const noexcept { return requests_.size(); }
  std::size_t index_begin() const noexcept { return 0; }
  std::size_t index_end() const noexcept { return requests_.size(); }
  /// Removes all requests after waiting for those that are under way.
  void clear() { requests_.clear(); }

  /// Waits for all. `statuses_out()` returns a status for each, `statuses_out(v)` writes them. If
  /// calls throw, it still waits for the others, and then throws the first exception.
  template <class Parameter = internal::unwanted>
  auto wait_all(Parameter to = {}) {
    return internal::end_all<true>(requests_, requests_.size(), to);
  }
  /// Whether all are complete. If one is not, no request is released and no status is written. With
  /// `statuses_out()` returns a std::optional of the statuses.
  template <class Parameter = internal::unwanted>
  [[nodiscard]] auto test_all(Parameter to = {}) {
    bool all = true;
    for (Request& r : requests_) all = r.complete() && all;
    const auto take = [&] { return internal::end_all<false>(requests_, requests_.size(), to); };
    if constexpr (internal::owns_statuses<Parameter>)
      return all ? std::optional(take()) : std::nullopt;
    else
      return all && (take(), true);
  }
  /// Waits for one: returns its index, and with `status_out()` also its status; empty if none is
  /// left.
  template <class Parameter = internal::unwanted>
  auto wait_any(Parameter to = {}) {
    return any(true, to);
  }
  /// The same without waiting: also empty if none is complete yet.
  template <class Parameter = internal::unwanted>
  auto test_any(Parameter to = {}) {
    return any(false, to);
  }

 private:
  template <class Parameter>
  auto any(bool waits, Parameter& to) {
    tutti::status what;
    const auto index = internal::find_complete(requests_, waits, what);
    if (index) internal::put_status(to, what);
    if constexpr (internal::asks_owned<Parameter>) {
      using found = PoolAnyResult<std::size_t, Status>;
      return index ? std::optional(found{*index, Status(what)}) : std::nullopt;
    } else {
      return index;
    }
  }

  std::deque<Request> requests_;
};

namespace requests {

/// Waits for all requests of a range, or for those that are arguments.
template <class Range, class Parameter = internal::unwanted>
requires requires(Range& r) { r.begin(); }
auto wait_all(Range&& range, Parameter to = {}) {
  std::size_t n = 0;
  for ([[maybe_unused]] Request& r : range) ++n;
  return internal::end_all<true>(range, n, to);
}
template <std::same_as<Request>... Requests>
void wait_all(Requests&... each) {
  std::exception_ptr first;
  ((void)each.finished(first), ...);
  if (first) internal::translating([&] { std::rethrow_exception(first); });
}

}  // namespace requests
}  // namespace kamping

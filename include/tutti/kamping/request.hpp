// SPDX-License-Identifier: Apache-2.0
//
// Nonblocking calls in KaMPIng's form: a request, and the result of a call that owns buffers.
#pragma once

#include <exception>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "tutti/kamping/status.hpp"

namespace kamping {
namespace internal {

/// The type of an absent parameter.
struct unwanted {};

/// The MPI_Status that a call writes.
struct native_status {
  MPI_Status* to;
  native_status& operator=(const tutti::status& what) {
    *to = Status(what).native();
    return *this;
  }
};
using native_status_argument =
    tutti::detail::argument<tutti::parameter::status, tutti::detail::data_direction::out, tutti::no_resize,
                            native_status>;

/// The status that a parameter of wait() or test() requests.
template <class Parameter>
inline constexpr bool asks_owned = false;
template <tutti::parameter N, tutti::detail::data_direction F, tutti::resize_policy P>
inline constexpr bool asks_owned<tutti::detail::argument<N, F, P, Status>> = true;

template <class Parameter>
void put_status(Parameter& to, const tutti::status& what) {
  if constexpr (requires { to.data = what; }) to.data = what;
}

}  // namespace internal
}  // namespace kamping

// It refers to a status of the caller, and is therefore not part of a result.
template <>
struct tutti::detail::argument<tutti::parameter::status, tutti::detail::data_direction::out, tutti::no_resize,
                               kamping::internal::native_status> {
  static constexpr parameter name = parameter::status;
  static constexpr data_direction direction = data_direction::out;
  static constexpr resize_policy policy = tutti::no_resize;
  static constexpr bool owning = false;
  using data_type = kamping::internal::native_status;
  data_type data;
};

namespace kamping {

namespace internal {

/// An unfinished call whose result is kept for a later extract().
class stored_call {
 public:
  virtual ~stored_call() = default;
  virtual tutti::status wait() = 0;
  virtual tutti::status wait_to_end(std::exception_ptr& first) = 0;  ///< as in request_operations
  virtual std::optional<tutti::status> test() = 0;
  virtual bool complete() = 0;         ///< test() without taking the result
  virtual tutti::status finish() = 0;  ///< takes the result of a complete call; does not enter it
};

template <class Result>
class shared_result final : public stored_call, private tutti::nonblocking_result<Result> {
  using base = tutti::nonblocking_result<Result>;

 public:
  explicit shared_result(base&& call) : base(std::move(call)) {}
  tutti::status wait() override {
    if (!result_) this->validated_pending("wait").wait_at_entry();
    return finish();
  }
  tutti::status wait_to_end(std::exception_ptr& first) override {
    if (!result_) tutti::detail::request_operations::wait_to_end(this->validated_pending("wait"), first);
    return finish();
  }
  std::optional<tutti::status> test() override {
    if (!complete()) return std::nullopt;
    return finish();
  }
  bool complete() override { return result_ || this->validated_pending("test").test_at_entry(); }
  tutti::status finish() override {
    if (!result_) {
      what_ = tutti::status(tutti::detail::found(*this->pending_));
      result_.emplace(this->take());
    }
    return what_;
  }
  Result extract() {
    wait();
    return std::move(*result_);
  }

 private:
  tutti::status what_;
  std::optional<Result> result_;
};

}  // namespace internal

template <class Result>
class NonBlockingResult;

/// The result of a call with request(r) that returns data. The data are available once r is
/// complete.
template <class Result>
class RequestedResult {
 public:
  explicit RequestedResult(std::shared_ptr<internal::shared_result<Result>> call) : call_(std::move(call)) {}
  /// Returns the result; it can be called once. Waits if nothing has waited yet.
  Result extract() {
    return internal::translating([&] { return call_->extract(); });
  }
  operator Result() { return extract(); }  ///< the same
  auto extract_recv_buf() { return part_of(extract()); }
  auto extract_recv_buffer() { return part_of(extract()); }
  auto extract_send_buf() {
    Result result = extract();
    if constexpr (requires { result.extract_send_buf(); })
      return result.extract_send_buf();
    else
      return result;
  }

 private:
  static auto part_of(Result result) {
    if constexpr (requires { result.extract_recv_buf(); })
      return result.extract_recv_buf();
    else
      return result;
  }
  std::shared_ptr<internal::shared_result<Result>> call_;
};

/// An unfinished call. It can be moved. The destructor waits, so that no buffer dies while it is in
/// use. It contains no MPI_Request.
class Request {
 public:
  Request() = default;
  Request(Request&& other) noexcept : call_(std::move(other.call_)), stored_(std::move(other.stored_)) {}
  Request& operator=(Request&& other) noexcept {
    call_ = std::move(other.call_);
    stored_ = std::move(other.stored_);
    return *this;
  }

  /// Waits; an empty request is not an error. `status_out()` returns the status, and
  /// `status_out(s)` writes it.
  void wait() { (void)finished(); }
  template <class Parameter>
  auto wait(Parameter&& to) {
    const tutti::status what = finished();
    internal::put_status(to, what);
    if constexpr (internal::asks_owned<std::remove_cvref_t<Parameter>>) return Status(what);
  }

  /// Whether the call is complete, or the request empty. With `status_out()` returns a
  /// std::optional of the status.
  [[nodiscard]] bool test() { return tested().has_value(); }
  template <class Parameter>
  [[nodiscard]] auto test(Parameter&& to) {
    const std::optional<tutti::status> what = tested();
    if (what) internal::put_status(to, *what);
    if constexpr (internal::asks_owned<std::remove_cvref_t<Parameter>>)
      return what ? std::optional(Status(*what)) : std::nullopt;
    else
      return what.has_value();
  }

  /// Whether there is nothing to wait for.
  bool is_null() const noexcept { return !call_.valid() && !stored_; }

  // For calls: stores the call that was begun.
  void hold(NonBlockingResult<void>&& call);
  template <class Result>
  auto hold(NonBlockingResult<Result>&& call) {
    auto stored = std::make_shared<internal::shared_result<Result>>(std::move(call));
    stored_ = stored;
    return RequestedResult<Result>(std::move(stored));
  }
  // For pools. complete() does not release the call. finished() and tested() are the bodies of
  // wait() and test(). finished(first) keeps the first exception. It releases the call, unless the
  // thread does not run its rank.
  // taken() is that of a complete call, and does not enter it: it throws no rejection.
  bool complete() {
    return internal::translating([&] {
      return stored_ ? stored_->complete() : tutti::detail::request_operations::complete(call_, "test_all");
    });
  }
  tutti::status finished() {
    if (is_null()) return {};
    return internal::translating([&] {
      // If a rejection of another rank is due, this throws, and the request still holds its call.
      const tutti::status what = stored_ ? stored_->wait() : call_.wait();
      stored_.reset();
      return what;
    });
  }
  tutti::status finished(std::exception_ptr& first) noexcept {
    if (!stored_) return tutti::detail::request_operations::wait(call_, "wait_all", {}, first);
    auto stored = std::exchange(stored_, nullptr);
    try {
      return stored->wait_to_end(first);
    } catch (...) {
      if (!first) first = std::current_exception();
      if (tutti::detail::request_operations::keeps_call()) stored_ = std::move(stored);
      return {};
    }
  }
  tutti::status taken() {
    return internal::translating([&] {
      const auto stored = std::exchange(stored_, nullptr);
      return stored ? stored->finish() : tutti::detail::request_operations::finish(call_);
    });
  }
  std::optional<tutti::status> tested() {
    if (is_null()) return tutti::status();
    return internal::translating([&] {
      const auto done = stored_ ? stored_->test() : call_.test();
      if (done) stored_.reset();
      return done;
    });
  }

 private:
  tutti::request call_;
  std::shared_ptr<internal::stored_call> stored_;
};

namespace internal {

/// The parameter request(r): the call stores its request there.
struct request_parameter {
  Request& to;
};

}  // namespace internal

/// The result of an i... form: an unfinished call with its buffers. wait() and test() are those of
/// tutti::nonblocking_result (request.hpp). `status_out(s)` writes the status of a receive, and
/// `status_out()` returns it beside the result.
template <class Result>
class NonBlockingResult : public tutti::nonblocking_result<Result> {
  using base = tutti::nonblocking_result<Result>;

 public:
  explicit NonBlockingResult(base&& call) : base(std::move(call)) {}

  Result wait() {
    return internal::translating([&] { return base::wait(); });
  }
  template <class Parameter>
  auto wait(Parameter&& to) {
    return internal::translating([&] {
      this->validated_pending("wait").wait_at_entry();
      const tutti::status what(tutti::detail::found(*this->pending_));
      internal::put_status(to, what);
      if constexpr (!internal::asks_owned<std::remove_cvref_t<Parameter>>) {
        return this->take();
      } else if constexpr (std::is_void_v<Result>) {
        this->take();
        return Status(what);
      } else {
        return std::pair<Result, Status>(this->take(), what);
      }
    });
  }
  auto test() {
    return internal::translating([&] { return base::test(); });
  }
  /// With `status_out(s)` returns the same as test(). With `status_out()` returns an optional of
  /// the result of wait(status_out()).
  template <class Parameter>
  auto test(Parameter&& to) {
    using with_status = decltype(wait(static_cast<Parameter&&>(to)));
    const bool complete =
        internal::translating([&] { return this->validated_pending("test").test_at_entry(); });
    if constexpr (std::is_void_v<with_status>) {
      if (complete) wait(static_cast<Parameter&&>(to));
      return complete;
    } else {
      return complete ? std::optional<with_status>(wait(static_cast<Parameter&&>(to)))
                      : std::optional<with_status>();
    }
  }

  /// Separates the request from the result of the call. Returns a Request, or if there is a result
  /// a pair of the Request and a RequestedResult. The result is available once the request is
  /// complete. It can be called once, in place of wait().
  auto extract() {
    (void)this->validated_pending("extract");
    Request made;
    if constexpr (std::is_void_v<Result>) {
      made.hold(std::move(*this));
      return made;
    } else {
      auto result = made.hold(std::move(*this));
      return std::pair<Request, RequestedResult<Result>>(std::move(made), std::move(result));
    }
  }
};

inline void Request::hold(NonBlockingResult<void>&& call) { call_ = tutti::request(std::move(call)); }

}  // namespace kamping

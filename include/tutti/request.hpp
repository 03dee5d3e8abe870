// SPDX-License-Identifier: Apache-2.0
//
// Calls that are under way while the program goes on, and calls that are prepared once and started many
// times.
//
// Progress is made in every blocking call, wait() and test() of the same rank, for all calls of that rank
// that are under way; there is no thread behind them. Calls of one communicator may end in any order, but all
// ranks begin them in the same.
#pragma once

#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "tutti/core/error.hpp"
#include "tutti/core/port.hpp"
#include "tutti/status.hpp"

namespace tutti {
namespace detail {

/// The buffers and arguments of a call, without their types but that of the result.
template <class Result>
class held_call {
 public:
  using result_type = Result;
  virtual Result finish(const pending& done) = 0;
  virtual bool dismiss() noexcept = 0;  ///< ends its use, as a destructor would; true

 protected:
  ~held_call() = default;
};
template <class Result>
using held = owner<held_call<Result>>;

[[noreturn]] void refuse_empty_request(const char* what, const std::source_location& at);
[[noreturn]] void refuse_empty_parameter();

/// What the caller holds of a call: its arguments, and the call itself. Movable; whatever lets go of it waits
/// for the call, while the buffers still are.
template <class Result>
class call_in_hand {
 public:
  call_in_hand() noexcept = default;
  call_in_hand(held<Result> arguments, pending_call call)
      : held_(std::move(arguments)), pending_(std::move(call)) {}
  call_in_hand(call_in_hand&&) noexcept = default;
  call_in_hand& operator=(call_in_hand&& other) noexcept {
    if (this == &other) return *this;
    let_go();
    held_ = std::move(other.held_);
    pending_ = std::move(other.pending_);
    return *this;
  }
  ~call_in_hand() { let_go(); }

  /// Whether there is a call.
  bool valid() const noexcept { return static_cast<bool>(held_); }

 protected:
  friend struct several;
  pending& checked(const char* what) {
    if (!held_) refuse_empty_request(what, {});
    return *pending_;
  }
  pending& checked(const char* what, const std::source_location& at) {
    if (!held_) refuse_empty_request(what, at);
    pending_->note(at);  // the place where the program waits
    return *pending_;
  }
  /// The result of a call that is complete, which is let go of.
  Result take() {
    const auto arguments = std::move(held_);
    const auto call = std::move(pending_);
    return arguments->finish(*call);
  }

  held<Result> held_;
  pending_call pending_;

 private:
  // The call first. Where it goes on without an owner, so do the buffers, for ever.
  void let_go() noexcept {
    if (!pending_.reset()) held_.release();
  }
};

}  // namespace detail

/// What every i... form returns: a call under way. It owns the operator and every buffer that was moved
/// into the call or is made by it; buffers passed as lvalues must outlive it, and are left alone until it is
/// complete. Arrays of counts may go at once, layouts of blocks may not.
///
/// It can be moved, and kept in containers; one thread at a time uses it. Its destructor waits; while an
/// exception passes by, for a tenth of a second, and then the job fails. A call like one
/// that is complete allocates nothing of its own: the library uses again what that one needed.
///
/// ```cpp
/// std::vector<int> v = {world.rank(), 1};
/// auto sum = world.iallreduce(send_buf(v), op(std::plus<>{}));
/// auto done = world.ibarrier();
/// while (!done.test()) {
///   // other work
/// }
/// std::vector<int> total = sum.wait();
/// assert(total[1] == world.size());
/// ```
template <class Result>
class [[nodiscard]] nonblocking_result : public detail::call_in_hand<Result> {
 public:
  using detail::call_in_hand<Result>::call_in_hand;

  /// Waits, and returns what the blocking call would. Throws what that would throw while under way;
  /// usage_error where the result was taken already.
  Result wait(std::source_location at = std::source_location::current()) {
    this->checked("wait", at).wait();
    return this->take();
  }

  /// Makes progress and does not wait. Returns std::optional of what wait() returns, or bool where that is
  /// void: with a value (true) once, when the call is complete. Throws as wait() does.
  auto test(std::source_location at = std::source_location::current()) {
    const bool complete = this->checked("test", at).test();
    if constexpr (std::is_void_v<Result>) {
      if (complete) this->take();
      return complete;
    } else {
      return complete ? std::optional<Result>(this->take()) : std::optional<Result>();
    }
  }

  /// Whether the result is still to be taken: wait() and test() may be called.
  using detail::call_in_hand<Result>::valid;
};

/// A call under way that returns nothing, of whatever kind: for programs that keep many at once. Passed as
/// `request(r)` to any i... form, which then returns void; every buffer must be an lvalue, for a request
/// keeps and returns none (the compiler says so). They outlive the request, or its wait(). requests.hpp waits
/// for several.
///
/// Moves, threads and the destructor as for nonblocking_result; a call that is given a request under way
/// waits for the old call first. For `request(r)` a request that is made from an lvalue remembers it and is
/// empty: it is a parameter, not a copy. Move one into a container.
///
/// ```cpp
/// int mine = world.rank(), other = -1;
/// request sent, received;
/// world.irecv(recv_buf(other), source(world.rank()), request(received));
/// world.isend(send_buf(mine), destination(world.rank()), request(sent));
/// status s = received.wait();
/// sent.wait();
/// assert(other == mine && s.count<int>() == 1);
///
/// std::vector<int> v(3);
/// world.ibcast(send_recv_buf(v), send_recv_count(3), request(sent));
/// while (!sent.test()) {
///   // other work
/// }
/// ```
class [[nodiscard]] request : public detail::call_in_hand<void> {
 public:
  request() noexcept = default;
  request(request&& other) noexcept : call_in_hand(std::move(other)) {}
  request& operator=(request&& other) noexcept {
    call_in_hand::operator=(std::move(other));
    return *this;
  }
  request(const request&) = delete;
  /// As a parameter: takes the call that it is passed to.
  explicit request(request& into) noexcept : call_in_hand(), into_(&into) {}
  /// Anything else is no parameter.
  explicit request(detail::anything_else) = delete;
  // For the library.
  explicit request(nonblocking_result<void>&& call) noexcept : call_in_hand(std::move(call)) {}

  /// Waits, and returns what is known of the message: of a receive; else a status of nobody. Throws what the
  /// blocking call would while under way; usage_error where this holds no call.
  status wait(std::source_location at = std::source_location::current()) {
    checked("wait", at).wait();
    return finish();
  }
  /// Makes progress and does not wait: a status once, when the call is complete. Throws as wait() does.
  std::optional<status> test(std::source_location at = std::source_location::current()) {
    if (!checked("test", at).test()) return std::nullopt;
    return finish();
  }

  // For calls: this as a named parameter.
  auto named_argument() && {
    if (into_ == nullptr) detail::refuse_empty_parameter();
    return detail::argument<parameter::request, detail::flow::in, no_resize, request&>{*into_};
  }

 private:
  status finish() {
    const status what(detail::found(*pending_));
    take();
    return what;
  }

  request* into_ = nullptr;
};

/// What every ..._init form returns: a call that is prepared. Each start() runs it on the same buffers,
/// whose contents are read then; counts, root, operator and algorithm are fixed. All ranks start their plans
/// in the same order.
///
/// What the blocking call would return by value, wait() returns by reference into the plan (single values by
/// value). Moves, threads and the destructor as for nonblocking_result.
///
/// ```cpp
/// std::vector<int> v(2);
/// auto step = world.allreduce_init(send_buf(v), op(std::plus<>{}));
/// for (int i = 0; i < 10; ++i) {
///   v = {i, 1};
///   step.start();
///   const std::vector<int>& sums = step.wait();
///   assert(sums[0] == i * world.size());
/// }
/// ```
template <class Result>
class [[nodiscard]] plan : public detail::call_in_hand<Result> {
 public:
  using detail::call_in_hand<Result>::call_in_hand;

  /// Begins one run. Throws usage_error where one is under way, or the communicator was freed.
  void start(std::source_location at = std::source_location::current()) {
    this->checked("start", at).start();
  }
  /// Makes progress; true when no run is under way any more. Then wait() returns at once.
  bool test(std::source_location at = std::source_location::current()) {
    return this->checked("test", at).test();
  }
  /// Ends the run, and gives its result; the reference holds until the next start().
  Result wait(std::source_location at = std::source_location::current()) {
    this->checked("wait", at).wait();
    return this->held_->finish(*this->pending_);
  }
};

}  // namespace tutti

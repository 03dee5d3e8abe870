// SPDX-License-Identifier: Apache-2.0
//
// Nonblocking calls, which run while the program continues, and persistent calls, which the program
// prepares once and starts many times.
//
// Every blocking call, wait() and test() of a rank progresses all unfinished calls of that rank. No
// progress thread exists. Calls of one communicator may complete in any order, but all ranks begin
// them in the same order.
//
// If another rank has rejected its arguments in an earlier call, wait(), test() and start() may
// throw its peer_error (error.hpp). The earlier call need not be the one that they wait for. They
// have done nothing then, so the program can repeat them.
#pragma once

#include <optional>
#include <source_location>
#include <type_traits>
#include <utility>

#include "tutti/detail/abi.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/error.hpp"
#include "tutti/status.hpp"

TUTTI_API_BEGIN
namespace tutti {
namespace detail {

/// The buffers and arguments of a call. Only the type of the result remains visible.
template <class Result>
class held_call {
 public:
  using result_type = Result;
  virtual Result finish(const pending& done) = 0;
  virtual bool dismiss() noexcept = 0;  ///< ends its use, as a destructor would; returns true

 protected:
  ~held_call() = default;
};
template <class Result>
using held = owner<held_call<Result>>;

[[noreturn]] void reject_empty_request(const char* what, const std::source_location& at);
[[noreturn]] void reject_empty_parameter();
[[noreturn]] void reject_copied_request(const char* what, const std::source_location& at);

struct request_operations;  // requests.hpp

/// The caller's handle of a call: its arguments, and the call itself. It can be moved. The
/// destructor and an assignment wait for the call while its buffers still exist.
template <class Result>
class owned_call {
 public:
  owned_call() noexcept = default;
  owned_call(held<Result> arguments, pending_call call)
      : held_(std::move(arguments)), pending_(std::move(call)) {}
  owned_call(owned_call&&) noexcept = default;
  owned_call& operator=(owned_call&& other) noexcept {
    if (this == &other) return *this;
    release();
    held_ = std::move(other.held_);
    pending_ = std::move(other.pending_);
    return *this;
  }
  ~owned_call() { release(); }

  /// Whether there is a call.
  bool valid() const noexcept { return static_cast<bool>(held_); }

 protected:
  friend struct request_operations;
  pending& validated_pending(const char* what) {
    if (!held_) reject_empty_request(what, {});
    return *pending_;
  }
  pending& validated_pending(const char* what, const std::source_location& at) {
    if (!held_) reject_empty_request(what, at);
    pending_->note(at);  // where the program waits
    return *pending_;
  }
  /// Returns the result of a complete call, and releases the call.
  Result take() {
    const auto arguments = std::move(held_);
    const auto call = std::move(pending_);
    return arguments->finish(*call);
  }

  held<Result> held_;
  pending_call pending_;

 private:
  // Ends the call before its buffers. If the call continues without an owner, the buffers are
  // leaked.
  void release() noexcept {
    if (!pending_.reset()) held_.release();
  }
};

}  // namespace detail

/// The result of every i... form: a call that is under way. It owns the operator, and every buffer
/// that was moved into the call or that the call made. A buffer passed as an lvalue must outlive
/// it, and the program must not touch it until the call is complete. Arrays of counts may die at
/// once; layouts of blocks may not.
///
/// It can be moved, and kept in containers; one thread at a time uses it. Its destructor waits for
/// the call. During stack unwinding it waits a tenth of a second, and then the job fails. A call
/// that repeats a complete one allocates nothing: the library reuses the memory of the earlier
/// call.
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
class [[nodiscard]] nonblocking_result : public detail::owned_call<Result> {
 public:
  using detail::owned_call<Result>::owned_call;

  /// Waits, and returns the result of the blocking call. Throws the errors that the blocking call
  /// throws while it runs. Throws usage_error if the result was already taken.
  Result wait(std::source_location at = std::source_location::current()) {
    this->validated_pending("wait", at).wait_at_entry();
    return this->take();
  }

  /// Makes progress without waiting. Returns a std::optional of the result of wait(), or a bool if
  /// that is void. It has a value (is true) once, when the call is complete. Throws the same as
  /// wait().
  auto test(std::source_location at = std::source_location::current()) {
    const bool complete = this->validated_pending("test", at).test_at_entry();
    if constexpr (std::is_void_v<Result>) {
      if (complete) this->take();
      return complete;
    } else {
      return complete ? std::optional<Result>(this->take()) : std::optional<Result>();
    }
  }

  /// Whether the result can still be taken, so that wait() and test() may be called.
  using detail::owned_call<Result>::valid;
};

/// An unfinished call of any kind that returns nothing, for programs that keep many at once. It is
/// passed as `request(r)` to any i... form, which then returns void. Every buffer must be an
/// lvalue, since a request owns and returns none; other buffers do not compile. The buffers must
/// outlive the request, or its wait(). requests.hpp waits for several requests.
///
/// Moves, threads and the destructor are those of nonblocking_result. A call that receives a
/// request with an unfinished call waits for the old call first. `request b(r)` is the parameter
/// `request(r)`, not a copy of r. So is the element that `v.emplace_back(r)` makes. Every use of it
/// but as a parameter throws usage_error, also in wait_all(). To store a request in a container,
/// move it.
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
class [[nodiscard]] request : public detail::owned_call<void> {
 public:
  request() noexcept = default;
  request(request&& other) noexcept
      : owned_call(std::move(other)), into_(std::exchange(other.into_, nullptr)) {}
  request& operator=(request&& other) noexcept {
    owned_call::operator=(std::move(other));
    into_ = std::exchange(other.into_, nullptr);
    return *this;
  }
  request(const request&) = delete;
  /// As a parameter: `into` receives the call that this parameter is passed to.
  explicit request(request& into) noexcept : owned_call(), into_(&into) {}
  /// Rejects every other argument.
  explicit request(detail::anything_else) = delete;
  // For the library.
  explicit request(nonblocking_result<void>&& call) noexcept : owned_call(std::move(call)) {}

  /// Waits, and returns the status of a received message, else an empty status. Throws the errors
  /// that the blocking call throws while it runs. Throws usage_error if this holds no call.
  status wait(std::source_location at = std::source_location::current()) {
    validate_no_parameter("wait", at);
    validated_pending("wait", at).wait_at_entry();
    return finish();
  }
  /// Makes progress without waiting. Returns a status once, when the call is complete. Throws the
  /// same as wait().
  std::optional<status> test(std::source_location at = std::source_location::current()) {
    validate_no_parameter("test", at);
    if (!validated_pending("test", at).test_at_entry()) return std::nullopt;
    return finish();
  }
  /// Whether there is a call.
  bool valid(std::source_location at = std::source_location::current()) const {
    validate_no_parameter("valid", at);
    return owned_call::valid();
  }

  // For calls: this as a named parameter.
  auto named_argument() && {
    if (into_ == nullptr) detail::reject_empty_parameter();
    return detail::argument<parameter::request, detail::data_direction::in, no_resize, request&>{*into_};
  }

 private:
  friend struct detail::request_operations;
  void validate_no_parameter(const char* operation, const std::source_location& at) const {
    if (!held_ && into_ != nullptr) detail::reject_copied_request(operation, at);
  }
  status finish() {
    const status what(detail::found(*pending_));
    take();
    return what;
  }

  request* into_ = nullptr;
};

/// The result of every ..._init form: a persistent call. Each start() runs it on the same buffers
/// and reads their current contents. Counts, root, operator and algorithm are fixed. All ranks
/// start their plans in the same order.
///
/// wait() returns a reference into the plan to what the blocking call returns by value (single
/// values come by value). Moves, threads and the destructor are those of nonblocking_result.
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
class [[nodiscard]] plan : public detail::owned_call<Result> {
 public:
  using detail::owned_call<Result>::owned_call;

  /// Begins one run. Throws usage_error if the program has not waited for the last run, nor tested
  /// it to its end, or if the communicator was freed.
  void start(std::source_location at = std::source_location::current()) {
    this->validated_pending("start", at).start();
  }
  /// Makes progress; returns true if no run is under way any more. wait() then returns at once.
  bool test(std::source_location at = std::source_location::current()) {
    return this->validated_pending("test", at).test_at_entry();
  }
  /// Ends the run, and returns its result. The reference is valid until the next start().
  Result wait(std::source_location at = std::source_location::current()) {
    this->validated_pending("wait", at).wait_at_entry();
    return this->held_->finish(*this->pending_);
  }
};

}  // namespace tutti
TUTTI_API_END

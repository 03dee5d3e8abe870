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
#include <type_traits>
#include <utility>

#include "tutti/core/error.hpp"
#include "tutti/core/port.hpp"

namespace tutti {
namespace detail {

/// The buffers and arguments of a call, without their types but that of the result.
template <class Result>
class held_call {
 public:
  using result_type = Result;
  virtual Result finish() = 0;
  virtual void dismiss() noexcept = 0;  ///< ends its use, as a destructor would

 protected:
  ~held_call() = default;
};
template <class Result>
using held = owner<held_call<Result>>;

[[noreturn]] void refuse_empty_request(const char* what);

}  // namespace detail

/// What every i... form returns: a collective under way. It owns the operator and every buffer that was moved
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
class [[nodiscard]] nonblocking_result {
 public:
  nonblocking_result(detail::held<Result> held, detail::pending_call under_way)
      : held_(std::move(held)), under_way_(std::move(under_way)) {}
  nonblocking_result(nonblocking_result&&) noexcept = default;
  nonblocking_result& operator=(nonblocking_result&& other) noexcept {
    if (this == &other) return *this;
    under_way_.reset();  // waits, while the buffers still are
    held_ = std::move(other.held_);
    under_way_ = std::move(other.under_way_);
    return *this;
  }
  ~nonblocking_result() { under_way_.reset(); }

  /// Waits, and returns what the blocking call would. Throws what that would throw while under way;
  /// usage_error where the result was taken already.
  Result wait() {
    if (!held_) detail::refuse_empty_request("wait");
    under_way_->wait();
    return take();
  }

  /// Makes progress and does not wait. Returns std::optional of what wait() returns, or bool where that is
  /// void: with a value (true) once, when the call is complete. Throws as wait() does.
  auto test() {
    if (!held_) detail::refuse_empty_request("test");
    if constexpr (std::is_void_v<Result>) {
      if (!under_way_->test()) return false;
      take();
      return true;
    } else {
      if (!under_way_->test()) return std::optional<Result>();
      return std::optional<Result>(take());
    }
  }

  /// Whether the result is still to be taken: wait() and test() may be called.
  bool valid() const noexcept { return static_cast<bool>(held_); }

 private:
  Result take() {
    under_way_.reset();
    const auto held = std::move(held_);
    return held->finish();
  }

  detail::held<Result> held_;
  detail::pending_call under_way_;  // destroyed first
};

/// What every ..._init form returns: a collective that is prepared. Each start() runs it on the same buffers,
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
class [[nodiscard]] plan {
 public:
  plan(detail::held<Result> held, detail::pending_call prepared)
      : held_(std::move(held)), prepared_(std::move(prepared)) {}
  plan(plan&&) noexcept = default;
  plan& operator=(plan&& other) noexcept {
    if (this == &other) return *this;
    prepared_.reset();
    held_ = std::move(other.held_);
    prepared_ = std::move(other.prepared_);
    return *this;
  }
  ~plan() { prepared_.reset(); }

  /// Begins one run. Throws usage_error where one is under way, or the communicator was freed.
  void start() { checked("start").start(); }
  /// Makes progress; true when no run is under way any more. Then wait() returns at once.
  bool test() { return checked("test").test(); }
  /// Ends the run, and gives its result; the reference holds until the next start().
  Result wait() {
    checked("wait").wait();
    return held_->finish();
  }

 private:
  detail::pending& checked(const char* what) {
    if (!prepared_) detail::refuse_empty_request(what);
    return *prepared_;
  }

  detail::held<Result> held_;
  detail::pending_call prepared_;
};

}  // namespace tutti

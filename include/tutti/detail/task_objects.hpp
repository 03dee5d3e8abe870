// SPDX-License-Identifier: Apache-2.0
//
// The objects of a task program: handles of data, views of them, requests of transfers.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>

#include "tutti/communicator.hpp"
#include "tutti/detail/export.hpp"
#include "tutti/detail/task_arguments.hpp"
#include "tutti/detail/tasks_abi.hpp"
#include "tutti/status.hpp"

TUTTI_API_BEGIN
namespace tutti::tasks {

class runtime;

/// Registered data of a runtime: a T, or as handle<std::span<E>> some contiguous E; trivially
/// copyable. A handle is cheap to copy, and valid until remove() or the end of the runtime. A
/// default constructed handle is empty, for ranks that are not concerned with the data.
template <class T>
class handle {
 public:
  using value_type = T;  ///< the type of the data

  handle() noexcept = default;
  /// Whether the handle refers to data.
  explicit operator bool() const noexcept { return what_ != nullptr; }
  friend bool operator==(const handle&, const handle&) noexcept = default;

 private:
  friend struct handle_access;
  explicit handle(data_handle* what) noexcept : what_(what) {}

  data_handle* what_ = nullptr;
};

/// How acquire() uses data.
namespace access {
struct read_t {};
struct write_t {};
struct read_write_t {};
inline constexpr read_t read;              ///< unchanged
inline constexpr write_t write;            ///< all of it is overwritten
inline constexpr read_write_t read_write;  ///< both
}  // namespace access

/// The tag of data, for rt.data(..., with_tag(t)): at least 0, and distinct from all other tags.
/// Data with a tag may be absent on ranks that are not concerned; data without one are numbered in
/// the order of creation.
struct with_tag {
  constexpr explicit with_tag(long t) : tag(t) {}
  long tag;
};

/// One send or receive in the array forms: `peer` and `tag` as in send() and recv(). It uses the
/// runtime's own ranks, or those of the communicator, with its other messages.
struct transfer {
  template <class T>
  transfer(const handle<T>& h, int other, int by_tag)
      : all{handle_access::data_of(h), other, by_tag, nullptr} {}
  template <class T>
  transfer(const handle<T>& h, int other, int by_tag, const communicator& where)
      : all{handle_access::data_of(h), other, by_tag, &detail::impl_of(where)} {}
  explicit_transfer all;
};

/// The tag of a task, unlocked when a transfer is complete: see after().
struct unlocks {
  std::uint64_t tag;
};
inline unlocks unlock(std::uint64_t tag) noexcept { return {tag}; }

/// A transfer that the program waits for. Its destructor waits if it is under way. It must be
/// destroyed before its runtime.
class request {
 public:
  request() noexcept = default;
  request(request&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)), one_(std::exchange(other.one_, nullptr)) {}
  request& operator=(request&& other) noexcept {
    end();
    of_ = std::exchange(other.of_, nullptr);
    one_ = std::exchange(other.one_, nullptr);
    return *this;
  }
  ~request() { end(); }

  /// Returns when the transfer is complete. The status of a send is empty. Runs tasks meanwhile.
  /// Throws task_error if the data to be sent could not be computed. The runtime may have ended,
  /// since its end waits for the transfer. Throws usage_error if an exception has ended it before.
  tutti::status wait(std::source_location at = std::source_location::current()) { return wait(at, true); }
  /// Returns the status, if the transfer is complete. Makes progress, and runs no task.
  std::optional<tutti::status> test(std::source_location at = std::source_location::current()) {
    detail::envelope e;
    if (one_ != nullptr && !abi::test(of_, one_, e, at)) return std::nullopt;
    return tutti::status(e);
  }

 private:
  friend class runtime;
  request(task_graph& of, void* one) noexcept : of_(&of), one_(one) {}
  tutti::status wait(const std::source_location& at, bool is_entry) {
    detail::envelope e;
    if (one_ != nullptr) abi::wait(of_, one_, e, is_entry, at);
    return tutti::status(e);
  }
  void end() noexcept {
    if (one_ != nullptr) abi::drop(of_, std::exchange(one_, nullptr));
  }
  task_graph* of_ = nullptr;
  void* one_ = nullptr;
};

/// Use of data by the program itself, from acquire() to the end of this object, which must precede
/// that of the runtime. The data are a `T&`, or a span; const if they are only read.
template <class T, bool Const>
class view {
 public:
  using type = typename typed::kernel_parameter<T, Const>::type;  ///< `T&`, `const T&`, or a span

  view(view&& other) noexcept : of_(other.of_), one_(std::exchange(other.one_, nullptr)), at_(other.at_) {}
  view& operator=(view&&) = delete;
  ~view() { release(); }

  type get() const noexcept { return typed::kernel_parameter<T, Const>::of(at_); }
  type operator*() const noexcept { return get(); }
  auto* operator->() const noexcept requires(!typed::data_traits<T>::is_span) { return &get(); }
  /// Ends the use before the destructor does.
  void release() noexcept {
    if (one_ != nullptr) abi::release(*of_, std::exchange(one_, nullptr));
  }

 private:
  friend class runtime;
  view(task_graph& of, void* one, kernel_buffer at) noexcept : of_(&of), one_(one), at_(at) {}
  task_graph* of_;
  void* one_;
  kernel_buffer at_;
};

}  // namespace tutti::tasks
TUTTI_API_END

// SPDX-License-Identifier: Apache-2.0
//
// The two smart pointers to objects of the library. Those of <memory> would do the same, but that
// header costs a quarter of the compile time of tutti's headers (docs/performance.md).
//
// ```cpp
// // the library's object lives as long as this
// tutti::detail::communicator_handle kept = tutti::detail::handle_of(world);
// assert(&*kept == &tutti::detail::impl_of(world));
// ```
#pragma once

#include <utility>

#include "tutti/detail/export.hpp"

namespace tutti::detail {
/// The state that one rank keeps of one communicator. Defined in the library, and not exported.
class communicator_impl;
}  // namespace tutti::detail

TUTTI_API_BEGIN
namespace tutti::detail {

/// Increments and decrements the reference count; the last drop_reference() deletes. Any thread may
/// call them.
void add_reference(communicator_impl&) noexcept;
void drop_reference(communicator_impl&) noexcept;

/// Holds a reference to a communicator_impl, or is null.
class communicator_handle {
 public:
  communicator_handle() noexcept = default;
  /// Takes over the reference of a new object.
  explicit communicator_handle(communicator_impl* made) noexcept : impl_(made) {}
  communicator_handle(const communicator_handle& other) noexcept : impl_(other.impl_) {
    if (impl_ != nullptr) add_reference(*impl_);
  }
  communicator_handle(communicator_handle&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  communicator_handle& operator=(communicator_handle other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~communicator_handle() {
    if (impl_ != nullptr) drop_reference(*impl_);
  }

  communicator_impl& operator*() const noexcept { return *impl_; }
  communicator_impl* operator->() const noexcept { return impl_; }
  explicit operator bool() const noexcept { return impl_ != nullptr; }

 private:
  communicator_impl* impl_ = nullptr;
};

/// The unique owner of a reusable object. It does not delete the object but calls its dismiss(),
/// which returns whether the use is over.
template <class T>
class owner {
 public:
  owner() noexcept = default;
  explicit owner(T* one) noexcept : one_(one) {}
  template <class Derived>
  owner(owner<Derived>&& other) noexcept : one_(other.release()) {}
  owner(owner&& other) noexcept : one_(other.release()) {}
  owner& operator=(owner&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  ~owner() { reset(); }

  T& operator*() const noexcept { return *one_; }
  T* operator->() const noexcept { return one_; }
  explicit operator bool() const noexcept { return one_ != nullptr; }
  T* release() noexcept { return std::exchange(one_, nullptr); }
  /// Returns whether nothing uses the old object any more.
  bool reset(T* other = nullptr) noexcept {
    T* const old = std::exchange(one_, other);
    return old == nullptr || old->dismiss();
  }

 private:
  T* one_ = nullptr;
};

}  // namespace tutti::detail
TUTTI_API_END

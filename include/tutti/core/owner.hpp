// SPDX-License-Identifier: Apache-2.0
//
// The two smart pointers to objects of the library. Those of <memory> would do the same, but that
// header costs a quarter of the compile time of tutti's headers (docs/performance.md).
//
// ```cpp
// tutti::detail::core_handle kept = world.shared();  // the library's side lives as long as this
// assert(&*kept == &world.native());
// ```
#pragma once

#include <utility>

namespace tutti::detail {

/// The state that one rank keeps of one communicator. Defined in the library.
class core;

/// Increments and decrements the number of holders; the last drop() deletes. Any thread may call
/// them.
void keep(core&) noexcept;
void drop(core&) noexcept;

/// One holder of a core, or of none.
class core_handle {
 public:
  core_handle() noexcept = default;
  /// Takes over the count of a new core.
  explicit core_handle(core* made) noexcept : core_(made) {}
  core_handle(const core_handle& other) noexcept : core_(other.core_) {
    if (core_ != nullptr) keep(*core_);
  }
  core_handle(core_handle&& other) noexcept : core_(std::exchange(other.core_, nullptr)) {}
  core_handle& operator=(core_handle other) noexcept {
    std::swap(core_, other.core_);
    return *this;
  }
  ~core_handle() {
    if (core_ != nullptr) drop(*core_);
  }

  core& operator*() const noexcept { return *core_; }
  core* operator->() const noexcept { return core_; }
  explicit operator bool() const noexcept { return core_ != nullptr; }

 private:
  core* core_ = nullptr;
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

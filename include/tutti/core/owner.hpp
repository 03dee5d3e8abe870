// SPDX-License-Identifier: Apache-2.0
//
// The two kinds of pointer that the face keeps to what the library has made. Those of <memory> would do, but
// that header would be a quarter of what tutti's cost the compiler (docs/performance.md).
//
// ```cpp
// tutti::detail::core_handle kept = world.shared();  // the library's side lives as long as this
// assert(&*kept == &world.native());
// ```
#pragma once

#include <utility>

namespace tutti::detail {

/// What one rank keeps of one communicator. Defined in the library.
class core;

/// Counts one holder more, or one less; the last one deletes. Of any thread.
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

/// The one owner of something that is used again, and so not deleted but dismissed: T has dismiss(), which
/// returns whether it is over.
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
  /// Whether nothing uses the old one any more.
  bool reset(T* other = nullptr) noexcept {
    T* const old = std::exchange(one_, other);
    return old == nullptr || old->dismiss();
  }

 private:
  T* one_ = nullptr;
};

}  // namespace tutti::detail

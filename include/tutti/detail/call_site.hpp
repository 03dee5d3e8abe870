// SPDX-License-Identifier: Apache-2.0
//
// The current call of the program, for reports: its source location, such as "program.cpp:42", and
// its name if it makes other calls as its steps. The named parameters of most calls capture their
// location, and a call stores it before it does anything else. Each rank has one slot, which every
// report about that rank reads. A call pays only the store of one pointer.
//
// For front ends, before a call that abi.hpp executes:
//
// ```cpp
// detail::set_call_site(detail::impl_of(world), std::source_location::current());
// ```
#pragma once

#include <source_location>

#include "tutti/detail/export.hpp"

namespace tutti::detail {
class communicator_impl;  // not exported
}  // namespace tutti::detail

TUTTI_API_BEGIN
namespace tutti::detail {

/// The first member of a communicator_impl.
struct call_site_slot {
  std::source_location* slot;
};

/// Stores the location of this rank's call, in three instructions.
[[gnu::always_inline]] inline void set_call_site(communicator_impl& c,
                                                 const std::source_location& at) noexcept {
  *reinterpret_cast<call_site_slot&>(c).slot = at;
}

/// The same. Returns the object, for use in an initializer.
inline communicator_impl& at_call_site(communicator_impl& c, const std::source_location& at) noexcept {
  set_call_site(c, at);
  return c;
}

/// What reports say of the current call of a rank.
struct current_call {
  std::source_location place;       ///< of the current call
  const char* enclosing = nullptr;  ///< the call of several steps that makes it; null: none
  std::source_location enclosing_place;

  /// The name that the program knows for a step `operation` of the current call.
  const char* name_or(const char* operation) const noexcept {
    return enclosing != nullptr ? enclosing : operation;
  }
  const std::source_location& location() const noexcept {
    return enclosing != nullptr ? enclosing_place : place;
  }
};

/// Null if the calling thread does not run the rank: only its own thread may write it. A
/// communicator that was moved from has one of its own.
current_call* current_call_of(const communicator_impl&) noexcept;

/// While it lives, reports name the call `operation` of the program and its location. The calls
/// that it makes as its steps are not named. Within another one it changes nothing.
class enclosing_call {
 public:
  enclosing_call(const communicator_impl& c, const char* operation, const std::source_location& at) noexcept
      : enclosing_call(&c, operation, at) {}
  /// `c` may be null: then it does nothing. A null `operation` ends the enclosing call while this
  /// lives, for a callback of the program.
  enclosing_call(const communicator_impl* c, const char* operation, const std::source_location& at) noexcept {
    current_call* const now = c != nullptr ? current_call_of(*c) : nullptr;
    if (now == nullptr || (operation != nullptr && now->enclosing != nullptr)) return;
    of_ = now;
    before_ = *now;
    now->enclosing = operation;
    now->enclosing_place = at;
  }
  ~enclosing_call() {
    if (of_ == nullptr) return;
    of_->enclosing = before_.enclosing;
    of_->enclosing_place = before_.enclosing_place;
  }
  enclosing_call(const enclosing_call&) = delete;
  enclosing_call& operator=(const enclosing_call&) = delete;

 private:
  current_call* of_ = nullptr;
  current_call before_;
};

/// The location of this rank's last call.
const std::source_location& place_of(const communicator_impl&) noexcept;

}  // namespace tutti::detail
TUTTI_API_END

// SPDX-License-Identifier: Apache-2.0
//
// The source location of the current call of the program, for reports: "program.cpp:42". The named
// parameters of most calls capture their location, and a call stores it before it does anything
// else. Each rank has one slot, which every report about that rank reads. A call pays only the
// store of one pointer.
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

/// The location of this rank's last call.
const std::source_location& place_of(const communicator_impl&) noexcept;

}  // namespace tutti::detail
TUTTI_API_END

// SPDX-License-Identifier: Apache-2.0
//
// The source location of the current call of the program, for reports: "program.cpp:42". The named
// parameters of most calls capture their location, and a call notes it before it does anything
// else. Each rank has one slot, which every report about that rank reads. A call pays only the
// store of one pointer.
//
// For front ends, before a call that port.hpp executes:
//
// ```cpp
// detail::note_place(world.native(), std::source_location::current());
// ```
#pragma once

#include <source_location>

namespace tutti::detail {

class core;

/// The first member of a core.
struct noted_place {
  std::source_location* slot;
};

/// Notes the location of this rank, in three instructions.
[[gnu::always_inline]] inline void note_place(core& c, const std::source_location& at) noexcept {
  *reinterpret_cast<noted_place&>(c).slot = at;
}

/// The location that was noted last on the rank of this core.
const std::source_location& place_of(const core&) noexcept;

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// Where the program is in its current call, for reports: "program.cpp:42". The named parameters that most
// calls have capture the place where they are written, and a call notes it before it does anything else. Each
// rank has one slot, which every report about that rank reads: a store of one pointer is all that a call
// pays.
//
// For front ends, before a call that is carried out by port.hpp:
//
// ```cpp
// detail::note_place(world.native(), std::source_location::current());
// ```
#pragma once

#include <source_location>

namespace tutti::detail {

class core;

/// What a core begins with.
struct noted_place {
  std::source_location* slot;
};

/// Notes where this rank is: three instructions.
[[gnu::always_inline]] inline void note_place(core& c, const std::source_location& at) noexcept {
  *reinterpret_cast<noted_place&>(c).slot = at;
}

/// What was noted last on the rank of this core.
const std::source_location& place_of(const core&) noexcept;

}  // namespace tutti::detail

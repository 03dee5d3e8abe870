// SPDX-License-Identifier: Apache-2.0
//
// From an engine of the table to ranks that run: in this process, or by the module that serves.
#pragma once

#include "engines/engine.hpp"

namespace tutti {

/// Runs `program` on every rank and returns when all have ended. `how.pin` is read from TUTTI_PIN. The
/// command line is for engines whose ranks are processes; `header` as of find_modules(). Throws usage_error
/// where the engine does not make so many ranks, and engine_error where no module, or more than one, serves.
outcome make_ranks(const engine_entry& engine, launch how, int argc, char** argv, const char* header,
                   const rank_program& program);

/// How many ranks there are where nobody says it.
int default_ranks(const engine_entry& engine) noexcept;

}  // namespace tutti

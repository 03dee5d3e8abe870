// SPDX-License-Identifier: Apache-2.0
//
// Starts the ranks of an engine: in this process, or by an engine module.
#pragma once

#include "engines/engine_table.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::detail {

/// Runs `program` on every rank and returns when all have ended. Reads how.pin from TUTTI_PIN. The
/// command line is for engines whose ranks are processes. `header`: as for find_modules(). Throws
/// usage_error if the engine cannot make that many ranks. Throws engine_error unless exactly one
/// module fits.
outcome make_ranks(const engine_entry& engine, launch how, int argc, char** argv, const char* header,
                   const rank_program& program);

/// The default number of ranks.
TUTTI_API int default_ranks(const engine_entry& engine) noexcept;

}  // namespace tutti::detail

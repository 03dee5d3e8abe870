// SPDX-License-Identifier: Apache-2.0
//
// The decision trees in force: the engine's own, with the user's files on top.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "engines/endpoint.hpp"
#include "select/tree.hpp"

namespace tutti::detail {

/// For an engine, by its name, with the files of TUTTI_COLL_COMPOSITION_JSON_FILE and
/// TUTTI_COLL_SELECTION_JSON_FILE, of each its own half. A file at fault is told on stderr with all its
/// faults and left out; with TUTTI_COLL_STRICT=1 it is a usage_error.
std::shared_ptr<const document> load_trees(std::string_view engine);

/// situation::engine for these trees: which of the conditions that they declare hold. `say`: those that the
/// engine does not register, and that therefore count as false, are told on stderr.
std::uint32_t engine_conditions_of(const document& trees, const endpoint& door, bool say);

/// Equal for equal trees, and different in all likelihood otherwise.
std::uint64_t hash_of(const document& trees);

}  // namespace tutti::detail

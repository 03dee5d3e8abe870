// SPDX-License-Identifier: Apache-2.0
//
// The decision trees in force: the engine's own, with the user's files on top.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "selection/tree.hpp"
#include "transport/endpoint.hpp"

namespace tutti::detail {

/// The file that TUTTI_TREES names, or else tutti/trees.json in the user's configuration folder if it is
/// there. An empty path: none. Programs with other rights than their caller's have none.
struct trees_file {
  std::string path;
  bool is_default = false;  ///< the variable is not set
};
trees_file trees_of_the_user();

/// For an engine, by its name, with both halves of trees_of_the_user() on top, and on top of that the files
/// of TUTTI_COLL_COMPOSITION_JSON_FILE and TUTTI_COLL_SELECTION_JSON_FILE, of each its own half. Reports on
/// stderr, once for a job: a file at fault with all its faults, which is left out (with TUTTI_COLL_STRICT=1
/// it is a usage_error), and trees in a file that no variable reads.
std::shared_ptr<const document> load_trees(std::string_view engine);

/// selection_context::engine for these trees: which of the conditions that they declare hold. `say`: those
/// that the engine does not register, and that therefore count as false, are told on stderr.
std::uint32_t engine_conditions_of(const document& trees, const endpoint& ep, bool say);

/// Equal for equal trees, and different in all likelihood otherwise.
std::uint64_t hash_of(const document& trees);

}  // namespace tutti::detail

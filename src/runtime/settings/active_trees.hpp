// SPDX-License-Identifier: Apache-2.0
//
// The decision trees in use: the engine's own, with the user's files on top.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "selection/tree.hpp"
#include "transport/endpoint.hpp"

namespace tutti::detail {

/// The file that TUTTI_TREES names. If it is not set: tutti/trees.json in the user's configuration
/// folder, if it exists. The path is empty if there is none. In a setuid program the user's
/// environment is not read.
struct trees_file {
  std::string path;
  bool is_default = false;  ///< the variable is not set
};
trees_file user_trees();

/// The built-in trees of this name (endpoint::trees()). Both halves of user_trees() override them.
/// The files of TUTTI_COLL_COMPOSITION_JSON_FILE and TUTTI_COLL_SELECTION_JSON_FILE override that,
/// each with its own half. Reports on stderr, once for a job: a file with errors, with all its
/// errors, and trees in a file that no variable reads. A file with errors is ignored; with
/// TUTTI_COLL_STRICT=1 it is a usage_error.
std::shared_ptr<const document> load_trees(std::string_view builtin);

/// selection_context::engine for these trees: the bits of the declared conditions that hold. A
/// condition that the engine does not register counts as false. `report_unknown`: report these on
/// stderr.
std::uint32_t engine_conditions_of(const document& trees, const endpoint& ep, bool report_unknown);

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// The description of an engine and the table of all engines. An engine is a folder of src/engines
// with a file engine.cpp, which defines
//
//   extern const engine_entry tutti::detail::engine_<folder>;
//
// cmake/engines.cmake makes the table from these folders. Elsewhere the library names an engine
// only if it is the subject: mpi for adopt() and launchers, threads for hooked threads.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment_variables.hpp"
#include "base/group/hierarchy.hpp"
#include "transport/endpoint.hpp"
#include "tutti/call.hpp"
#include "tutti/detail/export.hpp"

namespace tutti::detail {

/// The facts from which the default engine is chosen.
struct start_conditions {
  bool launched = false;  // by an MPI launcher
  std::uint64_t seed = 0;
  int ranks = 1;
  int cores = 1;  // that this process may use
};

/// A call whose transport a report names. Of `arguments` only the kind, the elements of a block,
/// their type, and whether the call is in place count. All blocks of a vector form have the same
/// length.
struct reported_call {
  const call& arguments;
  const hierarchy& topology;  ///< of the ranks that make the call
  bool native = false;        ///< the engine's own collective runs it; false: a schedule does
  bool node_memory = false;   ///< the ranks of a node share memory for its data
  bool cross_memory = false;  ///< and may read the memory of each other
  bool oversubscribed = false;
};

struct engine_entry {
  std::string_view name;     ///< the name of its folder
  std::string_view meaning;  ///< what a rank is on this engine, in a few words

  /// Whether a program that names no engine gets this one; `when` describes it in words. At most
  /// one engine returns true for the same conditions. Null: the engine must be named.
  bool (*by_default)(const start_conditions&) noexcept = nullptr;
  std::string_view when = "only if it is named";

  /// Starts the ranks in this process and returns when all have ended. Null: each rank is a
  /// process, which a launcher starts. A module loaded at run time (engine_module) then runs the
  /// rank.
  outcome (*run)(const launch& how, const rank_program& program) = nullptr;
  bool shared_memory = false;  ///< its endpoints have a node

  /// A job with more ranks is rejected; `limit` states the reason or an alternative. The default
  /// number of ranks is the number of cores, but at most max_ranks.
  int max_ranks = 1000000;
  std::string_view limit = "";
  /// The default number of ranks of `tutti tune`. 0: the number of cores.
  int ranks_to_tune = 0;

  /// The conditions that decision trees may test. `holds` is false here; each endpoint sets it in a
  /// copy.
  std::span<const engine_condition> conditions = {};
  /// Whether the engine offers a native collective for a call within one group. `holds` lists the
  /// names of the conditions that hold. Null: the engine offers none.
  native_offer (*offers)(const agreed_signature&, std::span<const std::string> holds) noexcept = nullptr;
  /// Names in words how the data of a call of several ranks travel. Null: through the memory of the
  /// process if the engine has shared_memory, otherwise by messages of the engine.
  std::string (*transport)(const reported_call&) = nullptr;
  /// The name of the built-in trees of a job on so many nodes, for tools; a job has
  /// endpoint::trees(). `message_us`: the time of 8 bytes from node to node, 0 if it is not known.
  /// `module`: of an MPI; if empty, openmpi. Null: the name of the engine. Throws usage_error if a
  /// variable is invalid.
  std::string_view (*trees)(int nodes, double message_us, std::string_view module) = nullptr;
  /// Environment variables that only this engine reads.
  std::span<const variable> variables = {};

  bool embedded() const noexcept { return run != nullptr; }
  /// The same as context::offers(), without a context.
  native_offer native(const agreed_signature& s, std::span<const std::string> holds) const noexcept {
    return offers && !s.inter ? offers(s, holds) : native_offer::none;
  }
};

/// All engines, by name. The build generates the definition in a file of its own.
TUTTI_API std::span<const engine_entry* const> engines() noexcept;

/// Null if there is no engine of that name.
TUTTI_API const engine_entry* find_engine(std::string_view name) noexcept;

/// The engine of that name; if `name` is empty, the default engine. Throws a usage_error of "run"
/// that names TUTTI_ENGINE and all engines.
const engine_entry& pick_engine(std::string_view name, const start_conditions&);

/// Names in words how the data of a call travel between its ranks. All reports use these words.
std::string transport_of(const engine_entry& engine, const reported_call& c);

/// "fibers, mpi or threads"
std::string engine_names(std::string_view last_word);

/// The variables of the library and of all engines, in the order of the documents.
std::vector<variable> all_variables();

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// What an engine says of itself before it runs, and the table of all engines. An engine is a folder of
// src/engines with a file engine.cpp, which defines
//
//   extern const engine_entry tutti::engine_<folder>;
//
// cmake/engines.cmake makes the table from these folders. An engine's name stands nowhere else in the
// library, but for those that are the subject: mpi's for adopt() and launchers, threads' for threads that are
// hooked.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/environment.hpp"
#include "transport/endpoint.hpp"

namespace tutti {

/// What is known when no engine is named.
struct start_conditions {
  bool launched = false;  // by an MPI launcher
  std::uint64_t seed = 0;
  int ranks = 1;
  int cores = 1;  // that this process may use
};

struct engine_entry {
  std::string_view name;     ///< of its folder
  std::string_view meaning;  ///< what a rank is there, in a few words

  /// Whether a program that names no engine gets this one, and `when`, in words. At most one engine says yes
  /// to an occasion. Null: it is always to be named.
  bool (*by_default)(const start_conditions&) noexcept = nullptr;
  std::string_view when = "only if it is named";

  /// Makes the ranks in this process and returns when all have ended. Null: each rank is a process, which a
  /// launcher starts, and a module loaded at run time (engine_module) makes it one.
  outcome (*run)(const launch& how, const rank_program& program) = nullptr;
  bool shared_memory = false;  ///< its endpoints have a node

  /// More ranks are refused; `limit` says why, or what to do instead. Where nobody says how many ranks there
  /// shall be, there are as many as cores, up to `max_ranks`.
  int max_ranks = 1000000;
  std::string_view limit = "";
  /// With how many `tutti tune` measures unless told. 0: the cores.
  int ranks_to_tune = 0;

  /// What decision trees may ask of this engine. Nothing holds in it: an endpoint fills in a copy.
  std::span<const engine_condition> conditions = {};
  /// Whether it has a collective of its own for a call within one group, where of `conditions` those hold
  /// whose names are in `holds`. Null: for none.
  native_offer (*offers)(const agreed_signature&, std::span<const std::string> holds) noexcept = nullptr;
  /// Environment variables that this engine alone obeys.
  std::span<const variable> variables = {};

  bool embedded() const noexcept { return run != nullptr; }
  /// As context::offers(), known without a context.
  native_offer native(const agreed_signature& s, std::span<const std::string> holds) const noexcept {
    return offers && !s.inter ? offers(s, holds) : native_offer::none;
  }
};

/// All engines, by name. Generated; the only definition is in a file of its own.
std::span<const engine_entry* const> engines() noexcept;

/// Null where there is none of that name.
const engine_entry* find_engine(std::string_view name) noexcept;

/// The one of that name, or where it is empty the one for the occasion. Throws usage_error of "run" that
/// names TUTTI_ENGINE and all engines.
const engine_entry& pick_engine(std::string_view name, const start_conditions&);

/// "fibers, mpi or threads"
std::string engine_names(std::string_view last_word);

/// The variables of the library and of all engines, in the order in which documents show them.
std::vector<variable> all_variables();

}  // namespace tutti

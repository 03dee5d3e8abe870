// SPDX-License-Identifier: Apache-2.0
//
// What a call runs, and who said so: the call itself, the environment, the trees, or the fallback in code.
// One function for the library that runs it and for `tutti explain` that tells of it.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "selection/choose.hpp"
#include "selection/tree.hpp"

namespace tutti {

/// What the environment forces for a collective; empty where nothing is set.
struct forced_choice {
  std::string algorithm;        ///< TUTTI_<COLLECTIVE>_ALGORITHM
  std::string inter_algorithm;  ///< TUTTI_<COLLECTIVE>_INTER_ALGORITHM
  std::string composition;      ///< TUTTI_<COLLECTIVE>_COMPOSITION
};

/// All that decides besides the call: the same on all ranks.
struct selection {
  std::shared_ptr<const document> trees;  ///< null: the fallback in code
  std::array<forced_choice, collective_names.size()> forced;

  const forced_choice& of(collective what) const noexcept { return forced[static_cast<std::size_t>(what)]; }
};

/// What the call names itself; null where it names nothing.
struct named_choice {
  const char* algorithm = nullptr;
  const char* composition = nullptr;
};

enum class chosen_by : std::uint8_t { code, tree, environment, call };

/// Which of its three texts an override is.
enum class override_kind : std::uint8_t { algorithm, inter_algorithm, composition };

struct resolution {
  bool served = true;        ///< false: no algorithm serves the call, nothing below means anything
  composed_choice composed;  ///< null: no composition, `pure` is run
  choice pure;               ///< null: the engine's own collective
  chosen_by composition_by = chosen_by::tree, algorithm_by = chosen_by::tree;

  /// A name that was given and does not serve this call, so that the trees decided.
  struct unfit {
    chosen_by given_by;
    override_kind what;
    std::string name, reason;
  };
  std::vector<unfit> unfits;
  /// Names that the environment gave and that were obeyed.
  bool obeyed_algorithm = false, obeyed_composition = false;
};

/// Throws usage_error (in the name of `rank`) where the call or the environment names what does not exist.
resolution resolve(const selection&, const selection_context&, const named_choice&, int rank = -1);

/// For a call inside of a composition: as resolve(), but there are no compositions. `obey`: names count; a
/// call that has fallen back ignores them.
resolution resolve_inside(const selection&, const selection_context&, const named_choice&, bool obey,
                          int rank = -1);

/// "native" or "allreduce/native".
bool is_native(std::string_view name) noexcept;

}  // namespace tutti

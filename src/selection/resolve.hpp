// SPDX-License-Identifier: Apache-2.0
//
// Resolves what a call runs and what decided it: the call itself, the environment, the trees, or
// the fallback in code. The library and `tutti explain` share this function.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "selection/choose.hpp"
#include "selection/tree.hpp"

namespace tutti::detail {

/// The choices that the environment forces for a collective; empty if not set.
struct forced_choice {
  std::string algorithm;        ///< TUTTI_<COLLECTIVE>_ALGORITHM
  std::string inter_algorithm;  ///< TUTTI_<COLLECTIVE>_INTER_ALGORITHM
  std::string composition;      ///< TUTTI_<COLLECTIVE>_COMPOSITION
};

/// All inputs of the decision besides the call. They are the same on all ranks.
struct selection {
  std::shared_ptr<const document> trees;  ///< null: use the fallback in code
  std::array<forced_choice, collective_names.size()> forced;

  const forced_choice& of(collective what) const noexcept { return forced[static_cast<std::size_t>(what)]; }
};

/// The names that the call itself gives; null if it gives none.
struct named_choice {
  const char* algorithm = nullptr;
  const char* composition = nullptr;
};

enum class chosen_by : std::uint8_t { code, tree, environment, call };

/// The member of forced_choice that an override belongs to.
enum class override_kind : std::uint8_t { algorithm, inter_algorithm, composition };

struct resolution {
  /// false: no algorithm serves the call, and the other members have no meaning
  bool served = true;
  composed_choice composed;  ///< null: no composition, `pure` runs
  choice pure;               ///< null: the engine's native collective
  chosen_by composition_by = chosen_by::tree, algorithm_by = chosen_by::tree;

  /// A given name that does not serve this call, so that the trees decided instead.
  struct rejected_name {
    chosen_by given_by;
    override_kind what;
    std::string name, reason;
  };
  std::vector<rejected_name> rejected_names;
  /// Whether names from the environment were used.
  bool used_forced_algorithm = false, used_forced_composition = false;
};

/// Throws usage_error, with `rank` as its rank, if the call or the environment gives a name that
/// does not exist.
resolution resolve(const selection&, const selection_context&, const named_choice&, int rank = -1);

/// The same as resolve() for an inner call of a composition, without compositions. If `use_names`
/// is false, it ignores names: the composed call has fallen back.
resolution resolve_inside(const selection&, const selection_context&, const named_choice&, bool use_names,
                          int rank = -1);

/// Returns true for "native" or "allreduce/native".
bool is_native(std::string_view name) noexcept;

}  // namespace tutti::detail

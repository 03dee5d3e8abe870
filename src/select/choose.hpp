// SPDX-License-Identifier: Apache-2.0
//
// Which algorithm a call runs. Reads the agreed part of the call only, so that all ranks choose alike.
#pragma once

#include <string_view>

#include "core/signature.hpp"
#include "schedule/algorithm.hpp"

namespace tutti {

/// A pure algorithm, or (null) the engine's own collective.
struct choice {
  const pure_algorithm* pure = nullptr;
  int radix = 2;

  friend bool operator==(const choice&, const choice&) = default;
};

/// What selection may know of the engine.
struct engine_traits {
  bool embedded = true;  // ranks read one another's memory
  bool oversubscribed = false;
};

/// True where the call meets what the algorithm demands.
bool permits(const pure_algorithm& a, const agreed_signature& s) noexcept;

/// "ring" or "allreduce/ring"; null where there is none of this name for this collective.
const pure_algorithm* find_algorithm(collective what, std::string_view name) noexcept;

/// The choice for a call. `native_offered`: the engine has its own collective for it. Throws usage_error
/// (rank -1) where nothing serves the call.
choice choose(const agreed_signature& s, const engine_traits& engine, bool native_offered);

}  // namespace tutti

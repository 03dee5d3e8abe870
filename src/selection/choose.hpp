// SPDX-License-Identifier: Apache-2.0
//
// Declares the choice of an algorithm for a call. It reads agreed values only, so that all ranks
// choose the same algorithm.
#pragma once

#include <string>
#include <string_view>

#include "base/agreed_signature.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/composite/composition.hpp"
#include "selection/conditions.hpp"

namespace tutti::detail {

/// A pure algorithm, or (null) the engine's native collective.
struct choice {
  const pure_algorithm* pure = nullptr;
  algorithm_parameter_values parameter_values{};

  choice() = default;
  explicit choice(const pure_algorithm* a) : pure(a), parameter_values(a->default_values()) {}

  friend bool operator==(const choice&, const choice&) = default;
};

/// A composition, or (null) none: then the tree of pure algorithms decides.
struct composed_choice {
  const composed_algorithm* which = nullptr;
  algorithm_parameter_values parameter_values{};

  composed_choice() = default;
  explicit composed_choice(const composed_algorithm* c) : which(c), parameter_values(c->default_values()) {}

  friend bool operator==(const composed_choice&, const composed_choice&) = default;
};

/// Returns whether the call meets the restrictions of the choice with these parameter values. The
/// native collective requires that the engine offers it for the call.
bool permits(const choice& c, const selection_context& s) noexcept;
bool permits(const composed_choice& c, const selection_context& s) noexcept;
/// The same for a call of the whole job on one node.
bool permits(const choice& c, const agreed_signature& s) noexcept;

/// Describes the restrictions that the call does not meet; empty if the choice is permitted.
std::string why_not(const choice& c, const selection_context& s);
std::string why_not(const composed_choice& c, const selection_context& s);
std::string why_not(const choice& c, const agreed_signature& s);

/// Accepts "ring" or "allreduce/ring". Returns null if the collective has no algorithm of this
/// name.
const pure_algorithm* find_algorithm(collective what, std::string_view name) noexcept;

/// Accepts "ring", "allreduce/ring", or a name with parameters, "chain:segment=64K";
/// "ring:segment=64K" means segmented_ring. Returns a null choice if there is no such algorithm.
/// Throws usage_error, with `rank` as its rank, if a parameter does not exist or its value is out
/// of range.
choice read_choice(collective what, std::string_view text, int rank = -1);

/// Returns true for the names of the null composition: "@pure" without a collective; "null" and
/// "auto" with or without one.
bool is_null_composition(std::string_view name) noexcept;
const composed_algorithm* find_composition(collective what, std::string_view name) noexcept;
/// The same as read_choice, for "node_leader" or "allreduce/pipeline:segment=64K". It also returns
/// null for the null composition.
composed_choice read_composition(collective what, std::string_view text, int rank = -1);

/// Chooses for a call without trees: the native collective if the engine offers it, otherwise the
/// fallback in code. Throws usage_error (rank -1) if no algorithm serves the call.
choice choose(const selection_context& s);

}  // namespace tutti::detail

// SPDX-License-Identifier: Apache-2.0
//
// Which algorithm a call runs. Reads the agreed part of the call only, so that all ranks choose alike.
#pragma once

#include <string>
#include <string_view>

#include "base/agreed_signature.hpp"
#include "schedule/algorithm.hpp"
#include "schedule/composite/composition.hpp"
#include "selection/conditions.hpp"

namespace tutti {

/// A pure algorithm, or (null) the engine's own collective.
struct choice {
  const pure_algorithm* pure = nullptr;
  algorithm_parameter_values parameter_values{};

  choice() = default;
  explicit choice(const pure_algorithm* a) : pure(a), parameter_values(a->default_values()) {}

  friend bool operator==(const choice&, const choice&) = default;
};

/// A composition, or (null) none: the pure tree chooses.
struct composed_choice {
  const composed_algorithm* which = nullptr;
  algorithm_parameter_values parameter_values{};

  composed_choice() = default;
  explicit composed_choice(const composed_algorithm* c) : which(c), parameter_values(c->default_values()) {}

  friend bool operator==(const composed_choice&, const composed_choice&) = default;
};

/// True where the call meets what the choice demands, with these values of its parameters: the restrictions
/// of an algorithm or composition, and that the engine has the collective where it is the engine's own.
bool permits(const choice& c, const selection_context& s) noexcept;
bool permits(const composed_choice& c, const selection_context& s) noexcept;
/// For a call of the whole job on one node.
bool permits(const choice& c, const agreed_signature& s) noexcept;

/// What the call does not meet, in words; empty where it is permitted.
std::string why_not(const choice& c, const selection_context& s);
std::string why_not(const composed_choice& c, const selection_context& s);
std::string why_not(const choice& c, const agreed_signature& s);

/// "ring" or "allreduce/ring"; null where there is none of this name for this collective.
const pure_algorithm* find_algorithm(collective what, std::string_view name) noexcept;

/// "ring", "allreduce/ring", or with parameters "chain:segment=64K"; "ring:segment=64K" is segmented_ring.
/// Null where there is no such algorithm; throws usage_error in the name of `rank` where a parameter does not
/// exist or its value is out of range.
choice read_choice(collective what, std::string_view text, int rank = -1);

/// True for the names of the null composition: "@pure", and in other spellings "null" and "auto", with the
/// collective or without.
bool is_null_composition(std::string_view name) noexcept;
const composed_algorithm* find_composition(collective what, std::string_view name) noexcept;
/// As read_choice: "node_leader", "allreduce/pipeline:segment=64K"; null too for the null composition.
composed_choice read_composition(collective what, std::string_view text, int rank = -1);

/// The choice for a call without trees: the engine's own collective where there is one. Throws usage_error
/// (rank -1) where nothing serves the call.
choice choose(const selection_context& s);

}  // namespace tutti

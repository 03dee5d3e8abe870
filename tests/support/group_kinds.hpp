// SPDX-License-Identifier: Apache-2.0
//
// Creates communicators whose members know a few others only, by the name of the kind.
#pragma once

#include <stdexcept>
#include <string_view>

#include <tutti/group.hpp>

namespace tests {

inline constexpr std::string_view group_kinds[] = {"chain", "ring", "logchain", "logring"};

/// A communicator over all ranks of `world`.
inline tutti::communicator of_kind(const tutti::communicator& world, std::string_view kind) {
  if (kind == "chain") return world.over(tutti::chain(world));
  if (kind == "ring") return world.over(tutti::ring(world));
  if (kind == "logchain") return world.over(tutti::logchain(world));
  if (kind == "logring") return world.over(tutti::logring(world));
  throw std::invalid_argument("there is no such kind of group");
}

}  // namespace tests

// SPDX-License-Identifier: Apache-2.0
//
// States what another MPI library chooses for a call, in terms of algorithms of tutti. A model of
// the machine can then predict the time of the native collective of that MPI. trees/peers/ contains
// the choices as decision trees, and their sources.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "selection/choose.hpp"
#include "selection/resolve.hpp"

namespace tutti::tuning {

using namespace tutti::detail;

enum class peer_mpi : std::uint8_t { open_mpi, mpich };

/// The names "open_mpi" ..., in the order of peer_mpi.
std::span<const std::string_view> peer_mpi_names() noexcept;
std::string_view name_of(peer_mpi) noexcept;
std::optional<peer_mpi> find_peer_mpi(std::string_view name) noexcept;

/// The composition that the MPI runs or, if `composed` is null, the algorithm. The inner calls of a
/// composition are what peer_selection() chooses for them.
struct peer_decision {
  composed_choice composed;
  choice pure;
};

/// Returns what the MPI runs for a call by default, if nodes communicate by messages. Returns
/// nothing for calls between two groups, whose algorithms the trees do not state.
std::optional<peer_decision> peer_choice(peer_mpi, const selection_context&);

/// The decision tree of the MPI as the only input of selection. The document is read once.
const selection& peer_selection(peer_mpi);

}  // namespace tutti::tuning

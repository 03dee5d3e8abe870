// SPDX-License-Identifier: Apache-2.0
//
// Which built-in trees an MPI job has: those of one node, or those of several nodes with a fast or
// a slow network. Without MPI, so that tools can read it too.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/environment_variables.hpp"
#include "base/report_text.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {

enum class network_speed : std::uint8_t { unknown, fast, slow };

/// A message of 8 bytes from node to node takes longer on a slow network. The trees were simulated
/// for 1 us (100 Gbit/s) and 20 us (10 Gbit/s); this is their geometric mean.
inline constexpr double slow_message_us = 4.5;

inline network_speed network_speed_of(double message_us) noexcept {
  return message_us > slow_message_us ? network_speed::slow : network_speed::fast;
}

/// A rank that shares its core waits for the turn of each of the others. If messages take longer
/// than so many microseconds for each rank of the core, the network decides and not the cores: a
/// turn of a rank that polls MPI takes 10 to 20 us.
inline constexpr double core_wait_us = 40;

/// Whether the network decides how long calls take, although ranks share cores.
inline bool is_network_bound(double message_us, int ranks_per_core) noexcept {
  return message_us > core_wait_us * ranks_per_core;
}

/// The value of TUTTI_NETWORK; unknown if it is not set. Throws usage_error if it is none.
inline network_speed network_setting() {
  const auto value = detail::setting("TUTTI_NETWORK");
  if (!value) return network_speed::unknown;
  if (*value == "fast") return network_speed::fast;
  if (*value == "slow") return network_speed::slow;
  throw usage_error("run", -1, "TUTTI_NETWORK",
                    "is \"" + detail::echoed(*value) + "\", but the values are fast and slow",
                    "set one of them, or unset it");
}

/// Whether TUTTI_PREFER is native. Throws usage_error if it has another value.
inline bool native_is_preferred() {
  const auto value = detail::setting("TUTTI_PREFER");
  if (!value) return false;
  if (*value == "native") return true;
  throw usage_error("run", -1, "TUTTI_PREFER",
                    "is \"" + detail::echoed(*value) + "\", but the only value is native",
                    "set TUTTI_PREFER=native, or unset it");
}

/// The name of the built-in trees. Those of several nodes are for one MPI, whose native collectives
/// they replace where these are slower.
inline std::string_view trees_of_job(int nodes, network_speed speed, bool prefers_native,
                                     bool over_mpich) noexcept {
  if (nodes < 2 || prefers_native) return "mpi";
  if (speed == network_speed::slow) return over_mpich ? "mpich-slow-network" : "open_mpi-slow-network";
  return over_mpich ? "mpich-fast-network" : "open_mpi-fast-network";
}

}  // namespace tutti::mpi

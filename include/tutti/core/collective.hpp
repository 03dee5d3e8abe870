// SPDX-License-Identifier: Apache-2.0
//
// The names of the collectives, one vocabulary for calls, trees, variables and reports.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tutti {

/// Every collective operation. The order is that of `collective_names`.
enum class collective : std::uint8_t {
  barrier, bcast, reduce, allreduce, gather, gatherv, scatter, scatterv, allgather, allgatherv, alltoall,
  alltoallv, alltoallw, reduce_scatter, reduce_scatter_block, scan, exscan, neighbor_allgatherv,
  neighbor_alltoallv
};

inline constexpr std::array<std::string_view, 19> collective_names = {
    "barrier", "bcast", "reduce", "allreduce", "gather", "gatherv", "scatter", "scatterv", "allgather",
    "allgatherv", "alltoall", "alltoallv", "alltoallw", "reduce_scatter", "reduce_scatter_block", "scan",
    "exscan", "neighbor_allgatherv", "neighbor_alltoallv"};

constexpr std::string_view name_of(collective what) noexcept {
  return collective_names[static_cast<std::size_t>(what)];
}

}  // namespace tutti

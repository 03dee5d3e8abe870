// SPDX-License-Identifier: Apache-2.0
//
// The names of the collectives, the same for calls, trees, variables and reports.
//
// ```cpp
// world.barrier();
// const auto chosen = world.last_algorithm(collective::barrier);
// std::printf("%s was %s\n", name_of(collective::barrier).data(), chosen);
// ```
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tutti/detail/export.hpp"

TUTTI_API_BEGIN
namespace tutti {

/// Every collective operation, in the order of `collective_names`. neighbor_allgather and
/// neighbor_alltoall are the vector forms with equal counts. i..., ..._init and ..._single are
/// forms, not collectives.
enum class collective : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  neighbor_allgatherv,
  neighbor_alltoallv
};

inline constexpr std::array<std::string_view, 19> collective_names = {"barrier",
                                                                      "bcast",
                                                                      "reduce",
                                                                      "allreduce",
                                                                      "gather",
                                                                      "gatherv",
                                                                      "scatter",
                                                                      "scatterv",
                                                                      "allgather",
                                                                      "allgatherv",
                                                                      "alltoall",
                                                                      "alltoallv",
                                                                      "alltoallw",
                                                                      "reduce_scatter",
                                                                      "reduce_scatter_block",
                                                                      "scan",
                                                                      "exscan",
                                                                      "neighbor_allgatherv",
                                                                      "neighbor_alltoallv"};

/// The name that users write. The text is null-terminated.
constexpr std::string_view name_of(collective what) noexcept {
  return collective_names[static_cast<std::size_t>(what)];
}

/// The collective has one count per rank, and each rank its own.
constexpr bool is_vector_form(collective what) noexcept {
  return what == collective::gatherv || what == collective::scatterv || what == collective::allgatherv ||
         what == collective::alltoallv || what == collective::alltoallw ||
         what == collective::reduce_scatter || what == collective::neighbor_allgatherv ||
         what == collective::neighbor_alltoallv;
}

/// Blocks go to and come from the neighbors of a graph.
constexpr bool is_neighborhood(collective what) noexcept {
  return what == collective::neighbor_allgatherv || what == collective::neighbor_alltoallv;
}

/// One rank sends to all, or receives from all.
constexpr bool is_rooted(collective what) noexcept {
  return what == collective::bcast || what == collective::reduce || what == collective::gather ||
         what == collective::gatherv || what == collective::scatter || what == collective::scatterv;
}

/// An operator combines elements.
constexpr bool combines(collective what) noexcept {
  return what == collective::reduce || what == collective::allreduce || what == collective::scan ||
         what == collective::exscan || what == collective::reduce_scatter ||
         what == collective::reduce_scatter_block;
}

}  // namespace tutti
TUTTI_API_END

// SPDX-License-Identifier: Apache-2.0
//
// What a simulated call is on one rank: the shape that its schedule depends on, and the lengths of
// its blocks. All blocks are equal, so no table of counts is needed.
#pragma once

#include <vector>

#include "schedule/shape.hpp"
#include "simulation/simulator.hpp"

namespace tutti::simulation {

/// The shape on a rank, which refers to `neighbors`: those of a ring, for neighborhood collectives.
shape shape_of(const simulated_call& c, int ranks, int rank, const algorithm_parameter_values& values,
               std::vector<int>& neighbors);
call_lengths lengths_of(const simulated_call& c, int ranks, int rank);
/// The call as a front end would pass it, without addresses. Tables of counts refer to `counts` and
/// `displs`.
call call_of(const simulated_call& c, int ranks, int rank, std::vector<std::size_t>& counts,
             std::vector<std::size_t>& displs);

}  // namespace tutti::simulation
